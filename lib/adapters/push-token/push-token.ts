import { createRemoteJWKSet, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';

/** Whose pushes are taken. */
export interface PushTokenRules {
  /** Whom the token is for, as the subscription says it. */
  readonly audience: string;
  /** The e-mail of the service account that the subscription pushes as. */
  readonly serviceAccount: string;
  /** @default Google's */
  readonly jwksUrl?: string;
  /**
   * Cloud Run asks for the token itself, and hands it on with its signature taken out. Only where that is so may such a
   * token be believed: anybody can write one.
   */
  readonly isCheckedBefore: boolean;
  readonly now: () => number;
}

/** Undefined: it may come in. Otherwise the status that says why not. */
export type RefusePush = (authorization: string | undefined) => Promise<PushRefusal | undefined>;

export interface PushRefusal {
  readonly status: 401 | 403 | 503;
  readonly problem: string;
}

const GOOGLE_KEYS = 'https://www.googleapis.com/oauth2/v3/certs';
/** Google writes both. */
const ISSUERS = ['https://accounts.google.com', 'accounts.google.com'];
const KEYS_WITHIN_MS = 3_000;
const CLOCKS_MAY_DIFFER_BY_SECONDS = 30;
const LONGEST_TOKEN = 8_192;
const SIGNATURE_TAKEN_OUT = '.SIGNATURE_REMOVED_BY_GOOGLE';

/** The OIDC token that Pub/Sub sends with each push: signed by Google, for us, in the name of that account. */
export function pushTokenCheck(rules: PushTokenRules): RefusePush {
  const { audience, serviceAccount, jwksUrl = GOOGLE_KEYS, isCheckedBefore, now } = rules;
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: KEYS_WITHIN_MS });

  async function claimsOf(token: string): Promise<JWTPayload> {
    const { payload } = await jwtVerify(token, keys, {
      issuer: ISSUERS,
      audience,
      algorithms: ['RS256'],
      requiredClaims: ['exp', 'email'],
      clockTolerance: CLOCKS_MAY_DIFFER_BY_SECONDS,
    });
    return payload;
  }

  return async (authorization) => {
    const [, token] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    if (token === undefined || token.length > LONGEST_TOKEN)
      return { status: 401, problem: 'the push has no token; let its subscription push with authentication' };
    try {
      const isWithoutSignature = token.endsWith(SIGNATURE_TAKEN_OUT);
      if (isWithoutSignature && !isCheckedBefore) return { status: 401, problem: WHY_WITHOUT_SIGNATURE };
      const claims = isWithoutSignature ? claimsBelieved(token, audience, now()) : await claimsOf(token);
      if (claims['email'] === serviceAccount && claims['email_verified'] === true) return undefined;
      return { status: 403, problem: 'the token is not that of the service account that may push' };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      // The keys could not be had, which says nothing about the token.
      if (isOurTrouble(error)) return { status: 503, problem: `Google's keys: ${problem}` };
      return { status: 401, problem };
    }
  };
}

const WHY_WITHOUT_SIGNATURE =
  "the token's signature was taken out, as Cloud Run does where it asks for authentication itself; " +
  'say so with PUSH_AUTH=iam, or let Cloud Run leave the check to this service';

/** Who signed it was checked; that it is meant for us is still ours to see. Throws as `jwtVerify` would. */
function claimsBelieved(token: string, audience: string, nowMs: number): JWTPayload {
  const claims = decodeJwt(token);
  const { iss = '', aud, exp = 0 } = claims;
  if (!ISSUERS.includes(iss)) throw new errors.JWTInvalid('unexpected "iss" claim value');
  if (![aud].flat().includes(audience)) throw new errors.JWTInvalid('unexpected "aud" claim value');
  if (exp + CLOCKS_MAY_DIFFER_BY_SECONDS < nowMs / 1000)
    throw new errors.JWTInvalid('"exp" claim timestamp check failed');
  return claims;
}

function isOurTrouble(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  return (
    error instanceof errors.JWKSTimeout ||
    error.code === 'ERR_JOSE_GENERIC' ||
    error.code === 'ERR_JWKS_INVALID'
  );
}
