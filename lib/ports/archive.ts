import type { Refusal } from './reply.ts';

/** Stores whole envelopes by key, without expiry. Expected failures are returned, never thrown. */
export interface Archive {
  /** Stores the text durably before it resolves. Replaces what is stored under the key. */
  put(key: string, text: string): Promise<Stored>;
  /** The text is undefined if nothing is stored under the key. The key may be that of an envelope in a batch. */
  get(key: string): Promise<{ readonly ok: true; readonly text: string | undefined } | Refusal>;
  has(key: string): Promise<{ readonly ok: true; readonly exists: boolean } | Refusal>;
  /** Also succeeds if nothing is stored under the key. */
  remove(key: string): Promise<Stored>;
}

type Stored = { readonly ok: true } | Refusal;
