import type { Refusal } from './reply.ts';

/** Whole envelopes by key, kept for good. Expected failures are values, never thrown. */
export interface Archive {
  /** Accepted: it is there, durably. What stood there before is gone. */
  put(key: string, text: string): Promise<Kept>;
  /** Undefined: there is nothing under that key. */
  get(key: string): Promise<{ readonly ok: true; readonly text: string | undefined } | Refusal>;
  has(key: string): Promise<{ readonly ok: true; readonly isThere: boolean } | Refusal>;
  /** Accepted also where there was nothing. */
  remove(key: string): Promise<Kept>;
}

type Kept = { readonly ok: true } | Refusal;
