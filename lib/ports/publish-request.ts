import type { Reply } from './reply.ts';

/**
 * Posts the body of a Pub/Sub publish request, unchanged, to a topic.
 * An accepted message is stored durably by the broker. Expected failures are returned, never thrown.
 * @param topic The topic's full name, `projects/{project}/topics/{topic}`.
 */
export type PublishRequest = (topic: string, body: string) => Promise<Reply>;

/** Access tokens for Google's APIs. Never throws. */
export interface AccessToken {
  /** A valid token, from the cache if possible. */
  get(): Promise<
    { readonly ok: true; readonly token: string } | { readonly ok: false; readonly problem: string }
  >;
  /** Drops the cached token, because an API rejected it. The next `get` fetches a new one. */
  forget(): void;
}
