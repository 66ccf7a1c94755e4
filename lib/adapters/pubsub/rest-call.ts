import { defined } from '../../core/text/defined.ts';
import { causeText } from '../../core/text/error-text.ts';
import type { AccessToken } from '../../ports/publish-request.ts';
import type { Refusal } from '../../ports/reply.ts';

export interface RestOptions {
  /** @default Google's */
  readonly endpoint?: string;
  /** Undefined: an emulator, which asks nobody who they are. */
  readonly accessToken?: AccessToken;
}

/** Pub/Sub's plain HTTP interface: without the client library, which is megabytes to load for one POST. Never throws. */
export type RestCall = (method: 'GET' | 'POST', path: string, body?: string) => Promise<RestAnswer>;

type RestAnswer = { readonly ok: true; readonly text: string } | Refusal;

const PUBSUB = 'https://pubsub.googleapis.com';
const ANSWER_WITHIN_MS = 15_000;

export function restCall({ endpoint = PUBSUB, accessToken }: RestOptions): RestCall {
  return async (method, path, body) => {
    const url = `${endpoint}/v1/${path}`;
    const answer = await callOnce(method, url, body, accessToken);
    if (answer !== 'unauthorized') return answer;
    accessToken?.forget();
    const again = await callOnce(method, url, body, accessToken);
    return again === 'unauthorized'
      ? { ok: false, problem: `${path}: the access token is not taken` }
      : again;
  };
}

async function callOnce(
  method: string,
  url: string,
  body: string | undefined,
  accessToken: AccessToken | undefined,
): Promise<RestAnswer | 'unauthorized'> {
  const token = await accessToken?.get();
  if (token?.ok === false) return token;
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token.token}` }),
  };
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
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
