import type { Reply } from './reply.ts';

/** Sends a request to publish, as it stands, to a topic by its full name. Accepted: the broker has it, durably. Never throws. */
export type PublishRequest = (topic: string, body: string) => Promise<Reply>;

/** What says who we are to Google's interfaces. Never throws. */
export interface AccessToken {
  get(): Promise<
    { readonly ok: true; readonly token: string } | { readonly ok: false; readonly problem: string }
  >;
  /** It was not taken: the next one is a fresh one. */
  forget(): void;
}
