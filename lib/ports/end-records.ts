import type { EndRecord, NewRecord } from '../core/failure/record.ts';
import type { Refusal } from './reply.ts';

/** That an envelope ended, once for each identity: the first to say so is the one that counts. */
export interface EndRecords {
  /**
   * Notes the record unless one of its identity is there. Either way the answer is what is noted: the first one's
   * archive key, and whether it was this one. Where another identity was the first in its place, the key is the spare
   * one: nobody else's is ever given.
   */
  claim(record: NewRecord): Promise<Claim | Refusal>;
  /** The record of that identity, where there is one. */
  find(record: NewRecord): Promise<{ readonly ok: true; readonly record: EndRecord | undefined } | Refusal>;
  /** Every end that an envelope had: more than one after a replay. */
  ofEnvelope(envelopeId: string): Promise<Ends>;
  /** Every end of what a replay sent, since then where that is said, children of a fan-out included. */
  ofReplay(replay: string, sinceMs?: number): Promise<Ends>;
}

interface Claim {
  readonly ok: true;
  readonly isFirst: boolean;
  readonly archiveKey: string;
}

export type Ends = { readonly ok: true; readonly records: readonly EndRecord[] } | Refusal;
