import { createRemoteJWKSet, errors } from 'jose';

const TIMEOUT_MS = 3_000;

/** The issuer's public keys, fetched on demand and cached. */
export function issuerKeys(url: string): ReturnType<typeof createRemoteJWKSet> {
  return createRemoteJWKSet(new URL(url), { timeoutDuration: TIMEOUT_MS });
}

/** Whether the keys could not be fetched, so that the token could not be verified. */
export function isKeyFetchError(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  return (
    error instanceof errors.JWKSTimeout ||
    error.code === 'ERR_JOSE_GENERIC' ||
    error.code === 'ERR_JWKS_INVALID'
  );
}
