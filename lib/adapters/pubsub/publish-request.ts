import type { AccessToken, PublishRequest } from '../../ports/publish-request.ts';
import type { Reply } from '../../ports/transport.ts';
import { ACCEPTED } from '../../ports/transport.ts';

export interface PublishRequestOptions {
  /** @default Google's */
  readonly endpoint?: string;
  /** Undefined: an emulator, which asks nobody who they are. */
  readonly accessToken?: AccessToken;
}

const PUBSUB = 'https://pubsub.googleapis.com';
const ANSWER_WITHIN_MS = 15_000;

/**
 * Publishes by Pub/Sub's plain HTTP interface: the very request that a task makes when it is due, without the client
 * library, which is megabytes to load for one POST.
 */
export function publishRequest({ endpoint = PUBSUB, accessToken }: PublishRequestOptions): PublishRequest {
  return async (topic, body) => {
    const reply = await post(`${endpoint}/v1/${topic}:publish`, body, accessToken);
    if (reply !== 'unauthorized') return reply;
    accessToken?.forget();
    const again = await post(`${endpoint}/v1/${topic}:publish`, body, accessToken);
    return again === 'unauthorized'
      ? { ok: false, problem: `${topic}: the access token is not taken` }
      : again;
  };
}

async function post(
  url: string,
  body: string,
  accessToken: AccessToken | undefined,
): Promise<Reply | 'unauthorized'> {
  const token = await accessToken?.get();
  if (token?.ok === false) return token;
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token.token}` }),
  };
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    const text = await response.text();
    if (response.ok) return ACCEPTED;
    if (response.status === 401) return 'unauthorized';
    const problem = `${url} answered ${response.status}: ${text.slice(0, 500)}`;
    return response.status === 404 ? { ok: false, problem, isQueueMissing: true } : { ok: false, problem };
  } catch (error) {
    const { cause } = error as { cause?: unknown };
    return { ok: false, problem: `${url}: ${cause instanceof Error ? cause.message : String(error)}` };
  }
}
