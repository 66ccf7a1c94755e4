import { createRemoteJWKSet, errors, jwtVerify } from 'jose';

/** Whose pushes are taken. */
export interface PushTokenRules {
  /** Whom the token is for, as the subscription says it. */
  readonly audience: string;
  /** The e-mail of the service account that the subscription pushes as. */
  readonly serviceAccount: string;
  /** @default Google's */
  readonly jwksUrl?: string;
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

/** The OIDC token that Pub/Sub sends with each push: signed by Google, for us, in the name of that account. */
export function pushTokenCheck({
  audience,
  serviceAccount,
  jwksUrl = GOOGLE_KEYS,
}: PushTokenRules): RefusePush {
  const keys = createRemoteJWKSet(new URL(jwksUrl), { timeoutDuration: KEYS_WITHIN_MS });
  return async (authorization) => {
    const [, token] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    if (token === undefined || token.length > LONGEST_TOKEN)
      return { status: 401, problem: 'the push has no token; let its subscription push with authentication' };
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: ISSUERS,
        audience,
        algorithms: ['RS256'],
        requiredClaims: ['exp', 'email'],
        clockTolerance: CLOCKS_MAY_DIFFER_BY_SECONDS,
      });
      if (payload['email'] === serviceAccount && payload['email_verified'] === true) return undefined;
      return { status: 403, problem: 'the token is not that of the service account that may push' };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      // The keys could not be had, which says nothing about the token.
      if (isOurTrouble(error)) return { status: 503, problem: `Google's keys: ${problem}` };
      return { status: 401, problem };
    }
  };
}

function isOurTrouble(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  return (
    error instanceof errors.JWKSTimeout ||
    error.code === 'ERR_JOSE_GENERIC' ||
    error.code === 'ERR_JWKS_INVALID'
  );
}
