import { defined } from '../../core/text/defined.ts';
import { causeText } from '../../core/text/error-text.ts';
import type { AccessToken } from '../../ports/publish-request.ts';
import type { Refusal } from '../../ports/reply.ts';

export interface RestOptions {
  /** @default Google's endpoint */
  readonly endpoint?: string;
  /** Undefined for an emulator, which needs no authentication. */
  readonly accessToken?: AccessToken;
}

/** Calls Pub/Sub's HTTP API, without the client library, which takes long to load. Never throws. */
export type RestCall = (method: 'GET' | 'POST', path: string, body?: string) => Promise<RestResponse>;

type RestResponse = { readonly ok: true; readonly text: string } | Refusal;

const PUBSUB = 'https://pubsub.googleapis.com';
const TIMEOUT_MS = 15_000;

export function restCall({ endpoint = PUBSUB, accessToken }: RestOptions): RestCall {
  return async (method, path, body) => {
    const url = `${endpoint}/v1/${path}`;
    const answer = await callOnce(method, url, body, accessToken);
    if (answer !== 'unauthorized') return answer;
    accessToken?.forget();
    const again = await callOnce(method, url, body, accessToken);
    return again === 'unauthorized'
      ? { ok: false, problem: `${path}: the access token was rejected` }
      : again;
  };
}

async function callOnce(
  method: string,
  url: string,
  body: string | undefined,
  accessToken: AccessToken | undefined,
): Promise<RestResponse | 'unauthorized'> {
  const token = await accessToken?.get();
  if (token?.ok === false) return token;
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token.token}` }),
  };
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method, headers, signal, ...defined({ body }) });
    const text = await response.text();
    if (response.ok) return { ok: true, text };
    if (response.status === 401) return 'unauthorized';
    const problem = `${url} answered ${response.status}: ${text.slice(0, 500)}`;
    return response.status === 404 ? { ok: false, problem, isQueueMissing: true } : { ok: false, problem };
  } catch (error) {
    return { ok: false, problem: `${url}: ${causeText(error)}` };
  }
}
