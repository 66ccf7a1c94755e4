import { type JWTPayload, jwtVerify } from 'jose';
import { isKeyFetchError, issuerKeys } from './issuer-keys.ts';

export interface TokenRules {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUrl: string;
}

/** Only asymmetric algorithms, so that the key that verifies cannot sign. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const MAX_SUBJECT = 512;

/** Verifies tokens of one issuer. The claim `asya_flows`, a list of names, limits the flows that the caller may use. */
export function tokenAuthentication({ issuer, audience, jwksUrl }: TokenRules) {
  const keys = issuerKeys(jwksUrl);
  return async (token: string) => {
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
      return isKeyFetchError(error) ? 'unavailable' : undefined;
    }
  };
}

function callerFromClaims({ sub, asya_flows: flows }: JWTPayload) {
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT) return undefined;
  const id = `jwt:${sub}`;
  if (flows === undefined) return { id };
  // An invalid claim allows no flow.
  return { id, flows: Array.isArray(flows) ? flows.filter((flow) => typeof flow === 'string') : [] };
}
