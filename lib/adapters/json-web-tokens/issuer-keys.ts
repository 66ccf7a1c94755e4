import { createRemoteJWKSet, errors } from 'jose';

const WITHIN_MS = 3_000;

/** The public keys of whoever signs, fetched when they are needed and kept. */
export function issuerKeys(url: string): ReturnType<typeof createRemoteJWKSet> {
  return createRemoteJWKSet(new URL(url), { timeoutDuration: WITHIN_MS });
}

/** They could not be had, which says nothing about the token. */
export function isKeyFetchError(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  return (
    error instanceof errors.JWKSTimeout ||
    error.code === 'ERR_JOSE_GENERIC' ||
    error.code === 'ERR_JWKS_INVALID'
  );
}
