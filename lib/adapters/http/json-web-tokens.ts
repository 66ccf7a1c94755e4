import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { Authenticate } from './authenticate.ts';

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUrl: string;
}

/** Signed with a private key: one that verifies cannot sign. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const LONGEST_SUBJECT = 512;
const KEYS_WITHIN_MS = 3_000;

/** Tokens of one issuer for us. The claim `asya_flows`, a list of names, limits what they are good for. */
export function tokenAuthentication({ issuer, audience, jwksUrl }: TokenRules): Authenticate {
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: KEYS_WITHIN_MS });
  return async (token) => {
    if (token.split('.').length !== 3) return undefined;
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'sub'],
      });
      return callerFromClaims(payload);
    } catch (error) {
      return isOurTrouble(error) ? 'unavailable' : undefined;
    }
  };
}

function callerFromClaims({ sub, asya_flows: flows }: JWTPayload) {
  if (typeof sub !== 'string' || sub === '' || sub.length > LONGEST_SUBJECT) return undefined;
  const id = `jwt:${sub}`;
  if (flows === undefined) return { id };
  // A claim that cannot be read allows nothing.
  return { id, flows: Array.isArray(flows) ? flows.filter((flow) => typeof flow === 'string') : [] };
}

/** The issuer's keys could not be had, which says nothing about the token. */
function isOurTrouble(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  return (
    error instanceof errors.JWKSTimeout ||
    error.code === 'ERR_JOSE_GENERIC' ||
    error.code === 'ERR_JWKS_INVALID'
  );
}
