import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import { describeValue } from '../../core/text/describe-value.ts';
import { errorText } from '../../core/text/error-text.ts';
import { isKeyFetchError, issuerKeys } from './issuer-keys.ts';

/** Which pushes are authorized. */
export interface PushTokenRules {
  /** The token's audience, as configured on the subscription. */
  readonly audience: string;
  /** E-mail of the service account that the subscription uses to push. */
  readonly serviceAccount: string;
  /** @default Google's keys */
  readonly jwksUrl?: string;
  /**
   * Whether Cloud Run verifies the token before this service, and removes its signature. Only then may a token without a
   * signature be trusted, because anyone can write one.
   */
  readonly isVerifiedByCloudRun: boolean;
  readonly now: () => number;
}

/** Undefined if the push is authorized, otherwise the response. */
export type RefusePush = (authorization: string | undefined) => Promise<PushRefusal | undefined>;

interface PushRefusal {
  readonly status: 401 | 403 | 503;
  readonly problem: string;
}

const GOOGLE_KEYS = 'https://www.googleapis.com/oauth2/v3/certs';
/** Google uses both. */
const ISSUERS = ['https://accounts.google.com', 'accounts.google.com'];
const CLOCK_TOLERANCE_SECONDS = 30;
const MAX_TOKEN = 8_192;
const SIGNATURE_REMOVED = '.SIGNATURE_REMOVED_BY_GOOGLE';

/** Checks the OIDC token that Pub/Sub sends with each push: its signature, audience and service account. */
export function pushTokenCheck(rules: PushTokenRules): RefusePush {
  const { audience, serviceAccount, jwksUrl = GOOGLE_KEYS, isVerifiedByCloudRun, now } = rules;
  const keys = issuerKeys(jwksUrl);

  async function claimsOf(token: string): Promise<JWTPayload> {
    const { payload } = await jwtVerify(token, keys, {
      issuer: ISSUERS,
      audience,
      algorithms: ['RS256'],
      requiredClaims: ['exp', 'email'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    return payload;
  }

  return async (authorization) => {
    const [, token] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    if (token === undefined || token.length > MAX_TOKEN)
      return { status: 401, problem: 'the push has no token; enable authentication on its subscription' };
    try {
      const isWithoutSignature = token.endsWith(SIGNATURE_REMOVED);
      if (isWithoutSignature && !isVerifiedByCloudRun) return { status: 401, problem: WITHOUT_SIGNATURE };
      const claims = isWithoutSignature ? verifiedClaims(token, audience, now()) : await claimsOf(token);
      return refusalOfAccount(claims, serviceAccount);
    } catch (error) {
      if (isKeyFetchError(error)) return { status: 503, problem: `Google's keys: ${errorText(error)}` };
      return { status: 401, problem: problemOfToken(error) };
    }
  };
}

const WITHOUT_SIGNATURE =
  "the token's signature was removed, as Cloud Run does if it requires authentication; " +
  'set ASYA_PUSH_AUTH=iam (DELAYER_PUSH_AUTH=iam for the delayer), or allow unauthenticated invocations so that this service checks the token';

/** Cloud Run has verified the signature; checks the claims. Throws like `jwtVerify`. */
function verifiedClaims(token: string, audience: string, nowMs: number): JWTPayload {
  const claims = decodeJwt(token);
  const { iss = '', aud, exp } = claims;
  const isOver = typeof exp !== 'number' || exp + CLOCK_TOLERANCE_SECONDS < nowMs / 1000;
  if (!ISSUERS.includes(iss)) throw new errors.JWTClaimValidationFailed('another issuer', claims, 'iss');
  if (![aud].flat().includes(audience))
    throw new errors.JWTClaimValidationFailed('another audience', claims, 'aud');
  if (isOver) throw new errors.JWTExpired('over', claims, 'exp');
  return claims;
}

/** Shows the received values, but not the expected ones, because the caller is not authenticated. */
function problemOfToken(error: unknown): string {
  if (!(error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired))
    return errorText(error);
  const { iss, aud, exp } = error.payload;
  if (error.claim === 'aud')
    return `the token is for ${describeValue(aud)}, not for this service; set the audience of the push subscription to the value of ASYA_PUSH_AUDIENCE (DELAYER_PUSH_AUDIENCE for the delayer)`;
  if (error.claim === 'iss') return `the token was issued by ${describeValue(iss)}, not by Google`;
  if (error.claim === 'exp') return `the token has expired: its "exp" is ${describeValue(exp)}`;
  return errorText(error);
}

function refusalOfAccount(claims: JWTPayload, serviceAccount: string): PushRefusal | undefined {
  const { email, email_verified: isVerified } = claims;
  if (email !== serviceAccount) {
    const problem = `the token belongs to ${describeValue(email)}, which may not push here; configure the subscription to push as the account in ASYA_PUSH_SERVICE_ACCOUNT (DELAYER_PUSH_SERVICE_ACCOUNT for the delayer)`;
    return { status: 403, problem };
  }
  return isVerified === true
    ? undefined
    : {
        status: 403,
        problem: `the token belongs to ${describeValue(email)}, an address that Google has not verified`,
      };
}
