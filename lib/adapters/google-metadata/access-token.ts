import { causeText } from '../../core/text/error-text.ts';
import type { AccessToken } from '../../ports/publish-request.ts';

export interface MetadataOptions {
  /** `host` or `host:port` of the metadata server. @default metadata.google.internal */
  readonly host?: string;
  readonly now: () => number;
}

const HOST = 'metadata.google.internal';
const PATH = '/computeMetadata/v1/instance/service-accounts/default/token';
const TIMEOUT_MS = 5_000;
/** The metadata server returns the same token until its last minutes. */
const RENEW_BEFORE_EXPIRY_MS = 60_000;

type Token = { readonly ok: true; readonly token: string; readonly lifeMs: number } | Unavailable;
type Unavailable = { readonly ok: false; readonly problem: string };

/** Tokens of the service account that this container runs as, from the metadata server. Concurrent calls share a request. */
export function metadataAccessToken({ host = HOST, now }: MetadataOptions): AccessToken {
  const url = `http://${host}${PATH}`;
  let cached: { readonly token: Promise<Token>; untilMs: number } | undefined;

  function renew(): Promise<Token> {
    const entry = { token: tokenFrom(url), untilMs: Number.POSITIVE_INFINITY };
    cached = entry;
    entry.token.then((token) => {
      if (token.ok) entry.untilMs = now() + token.lifeMs - RENEW_BEFORE_EXPIRY_MS;
      // Do not cache a failure.
      else if (cached === entry) cached = undefined;
    });
    return entry.token;
  }

  return {
    get: () => (cached !== undefined && now() < cached.untilMs ? cached.token : renew()),
    forget: () => {
      cached = undefined;
    },
  };
}

async function tokenFrom(url: string): Promise<Token> {
  try {
    const headers = { 'metadata-flavor': 'Google' };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    if (!response.ok) return unavailable(url, `answered ${response.status}: ${text.slice(0, 200)}`);
    const { access_token: token, expires_in: seconds } = JSON.parse(text) as Record<string, unknown>;
    if (typeof token !== 'string' || typeof seconds !== 'number')
      return unavailable(url, 'the response has no access_token or expires_in');
    return { ok: true, token, lifeMs: seconds * 1000 };
  } catch (error) {
    return unavailable(url, causeText(error));
  }
}

function unavailable(url: string, problem: string): Unavailable {
  return { ok: false, problem: `no access token: ${url}: ${problem}` };
}

/** A token from elsewhere, for a machine outside Google Cloud. */
export function fixedAccessToken(token: string): AccessToken {
  return { get: async () => ({ ok: true, token }), forget: () => {} };
}
