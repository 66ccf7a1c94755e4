import type { EndRecord } from '../core/record.ts';
import type { Refusal } from './transport.ts';

/** That an envelope ended, once for each identity: the first to say so is the one that counts. */
export interface EndRecords {
  /**
   * Notes the record unless one of its identity is there. Either way the answer is what is noted: the first one's
   * archive key, and whether it was this one.
   */
  claim(record: EndRecord): Promise<Claim | Refusal>;
  /** The record of that identity, where there is one. */
  find(identity: string): Promise<{ readonly ok: true; readonly record: EndRecord | undefined } | Refusal>;
  /** Every end that an envelope had: more than one after a replay. */
  ofEnvelope(envelopeId: string): Promise<Ends>;
  /** Every end of what a replay sent, since then where that is said, children of a fan-out included. */
  ofReplay(replay: string, sinceMs?: number): Promise<Ends>;
}

export interface Claim {
  readonly ok: true;
  readonly isFirst: boolean;
  readonly archiveKey: string;
}

export type Ends = { readonly ok: true; readonly records: readonly EndRecord[] } | Refusal;
