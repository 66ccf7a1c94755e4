import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import { describeValue } from '../../core/text/describe-value.ts';
import { errorText } from '../../core/text/error-text.ts';
import { isKeyFetchError, issuerKeys } from './issuer-keys.ts';

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

interface PushRefusal {
  readonly status: 401 | 403 | 503;
  readonly problem: string;
}

const GOOGLE_KEYS = 'https://www.googleapis.com/oauth2/v3/certs';
/** Google writes both. */
const ISSUERS = ['https://accounts.google.com', 'accounts.google.com'];
const CLOCKS_MAY_DIFFER_BY_SECONDS = 30;
const MAX_TOKEN = 8_192;
const SIGNATURE_TAKEN_OUT = '.SIGNATURE_REMOVED_BY_GOOGLE';

/** The OIDC token that Pub/Sub sends with each push: signed by Google, for us, in the name of that account. */
export function pushTokenCheck(rules: PushTokenRules): RefusePush {
  const { audience, serviceAccount, jwksUrl = GOOGLE_KEYS, isCheckedBefore, now } = rules;
  const keys = issuerKeys(jwksUrl);

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
    if (token === undefined || token.length > MAX_TOKEN)
      return { status: 401, problem: 'the push has no token; let its subscription push with authentication' };
    try {
      const isWithoutSignature = token.endsWith(SIGNATURE_TAKEN_OUT);
      if (isWithoutSignature && !isCheckedBefore) return { status: 401, problem: WHY_WITHOUT_SIGNATURE };
      const claims = isWithoutSignature ? claimsBelieved(token, audience, now()) : await claimsOf(token);
      return refusalOfAccount(claims, serviceAccount);
    } catch (error) {
      if (isKeyFetchError(error)) return { status: 503, problem: `Google's keys: ${errorText(error)}` };
      return { status: 401, problem: problemOfToken(error) };
    }
  };
}

const WHY_WITHOUT_SIGNATURE =
  "the token's signature was taken out, as Cloud Run does where it asks for authentication itself; " +
  'say so with PUSH_AUTH=iam, or let Cloud Run leave the check to this service';

/** Who signed it was checked; that it is meant for us is still ours to see. Throws as `jwtVerify` would. */
function claimsBelieved(token: string, audience: string, nowMs: number): JWTPayload {
  const claims = decodeJwt(token);
  const { iss = '', aud, exp } = claims;
  const isOver = typeof exp !== 'number' || exp + CLOCKS_MAY_DIFFER_BY_SECONDS < nowMs / 1000;
  if (!ISSUERS.includes(iss)) throw new errors.JWTClaimValidationFailed('another issuer', claims, 'iss');
  if (![aud].flat().includes(audience))
    throw new errors.JWTClaimValidationFailed('another audience', claims, 'aud');
  if (isOver) throw new errors.JWTExpired('over', claims, 'exp');
  return claims;
}

/** What came is told, and what is expected is not: whoever asks may be anybody. */
function problemOfToken(error: unknown): string {
  if (!(error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired))
    return errorText(error);
  const { iss, aud, exp } = error.payload;
  if (error.claim === 'aud')
    return `the token is for ${describeValue(aud)}, not for this service; let its subscription ask for the audience that PUSH_AUDIENCE names`;
  if (error.claim === 'iss') return `the token was issued by ${describeValue(iss)}, not by Google`;
  if (error.claim === 'exp') return `the token's time is over: its "exp" is ${describeValue(exp)}`;
  return errorText(error);
}

function refusalOfAccount(claims: JWTPayload, serviceAccount: string): PushRefusal | undefined {
  const { email, email_verified: isVerified } = claims;
  if (email !== serviceAccount) {
    const problem = `the token is that of ${describeValue(email)}, who may not push here; let the subscription push as the account that PUSH_SERVICE_ACCOUNT names`;
    return { status: 403, problem };
  }
  return isVerified === true
    ? undefined
    : {
        status: 403,
        problem: `the token is that of ${describeValue(email)}, an address that Google has not verified`,
      };
}
