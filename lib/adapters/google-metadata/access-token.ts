import { causeText } from '../../core/text/error-text.ts';
import type { AccessToken } from '../../ports/publish-request.ts';

export interface MetadataOptions {
  /** `host` or `host:port` of the metadata server. @default Google's */
  readonly host?: string;
  readonly now: () => number;
}

const HOST = 'metadata.google.internal';
const PATH = '/computeMetadata/v1/instance/service-accounts/default/token';
const ANSWER_WITHIN_MS = 5_000;
/** The server itself hands out a fresh one only in a token's last minutes. */
const RENEW_BEFORE_END_MS = 60_000;

type Token = { readonly ok: true; readonly token: string; readonly lifeMs: number } | Unavailable;
type Unavailable = { readonly ok: false; readonly problem: string };

/** The service account that Google runs this container as, asked for on the instance itself; asked once for many. */
export function metadataAccessToken({ host = HOST, now }: MetadataOptions): AccessToken {
  const url = `http://${host}${PATH}`;
  let kept: { readonly token: Promise<Token>; untilMs: number } | undefined;

  function renew(): Promise<Token> {
    const mine = { token: tokenFrom(url), untilMs: Number.POSITIVE_INFINITY };
    kept = mine;
    mine.token.then((token) => {
      if (token.ok) mine.untilMs = now() + token.lifeMs - RENEW_BEFORE_END_MS;
      // What failed is asked for again the next time.
      else if (kept === mine) kept = undefined;
    });
    return mine.token;
  }

  return {
    get: () => (kept !== undefined && now() < kept.untilMs ? kept.token : renew()),
    forget: () => {
      kept = undefined;
    },
  };
}

async function tokenFrom(url: string): Promise<Token> {
  try {
    const headers = { 'metadata-flavor': 'Google' };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    const text = await response.text();
    if (!response.ok) return unavailable(url, `answered ${response.status}: ${text.slice(0, 200)}`);
    const { access_token: token, expires_in: seconds } = JSON.parse(text) as Record<string, unknown>;
    if (typeof token !== 'string' || typeof seconds !== 'number')
      return unavailable(url, 'answered without one');
    return { ok: true, token, lifeMs: seconds * 1000 };
  } catch (error) {
    return unavailable(url, causeText(error));
  }
}

function unavailable(url: string, problem: string): Unavailable {
  return { ok: false, problem: `no access token: ${url}: ${problem}` };
}

/** One that somebody else made: for a machine outside of Google's. */
export function fixedAccessToken(token: string): AccessToken {
  return { get: async () => ({ ok: true, token }), forget: () => {} };
}
