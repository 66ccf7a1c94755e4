import type { EndRecord, NewRecord } from '../core/failure/record.ts';
import type { Refusal } from './reply.ts';

/** Records that envelopes ended, once per identity. The first record of an identity wins. */
export interface EndRecords {
  /**
   * Stores the record unless there is already one of the same identity. Resolves with the archive key of the stored
   * record, and with whether that is this record. If a record of another identity occupies this record's key, the
   * record gets its `alternativeKey` instead. No two identities share a key.
   */
  claim(record: NewRecord): Promise<Claim | Refusal>;
  /** The stored record of the same identity, or undefined. */
  find(record: NewRecord): Promise<{ readonly ok: true; readonly record: EndRecord | undefined } | Refusal>;
  /** All ends of an envelope. There are several if it was replayed. */
  ofEnvelope(envelopeId: string): Promise<Ends>;
  /**
   * All ends of envelopes that a replay sent, including the children of a fan-out.
   * @param sinceMs Only ends at this time or later. Default: all of them.
   */
  ofReplay(replay: string, sinceMs?: number): Promise<Ends>;
}

interface Claim {
  readonly ok: true;
  /** Whether this call stored the record. */
  readonly isFirst: boolean;
  /** The archive key of the stored record. Undefined: the envelope is not archived. */
  readonly archiveKey?: string;
}

export type Ends = { readonly ok: true; readonly records: readonly EndRecord[] } | Refusal;
