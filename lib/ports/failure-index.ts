import type { Failure, ReplayEntry } from '../core/failure/failure.ts';
import type { Refusal, Reply } from './reply.ts';

/** The failed envelopes, for inspection and replay. Expected failures are returned, never thrown. */
export interface FailureIndex {
  /** Adds the failure. If it is already in the index, nothing changes. */
  add(failure: Failure): Promise<Entry | Refusal>;
  /**
   * Failures that match the filter, newest first, one page at a time. A page may be empty and not the last one.
   * @param cursor The previous page's `next`. Default: the first page.
   */
  list(filter: FailureFilter, cursor?: Cursor): Promise<FailurePage | Refusal>;
  /** All failures of one envelope, newest first. */
  ofEnvelope(envelopeId: string): Promise<FailurePage | Refusal>;
  /**
   * Records that the failure is about to be replayed. Refused with `already-replayed` if it was replayed before, unless
   * `again` is true; of several calls at the same time, one succeeds. Refused with `gone` if the failure was removed. A
   * second call for the same replay succeeds, because the reply to the first may have been lost.
   */
  recordReplay(identity: string, entry: ReplayEntry, again: boolean): Promise<RecordReplayReply>;
  /** Removes the replay entry, because the send was refused. */
  removeReplay(identity: string, replay: string): Promise<Reply>;
  /**
   * Records how an envelope ended in a replay. After a success, all failures of the envelope are resolved, except one that
   * occurred in the same replay. After a failure, the failure that was replayed lists it. Repeating it changes nothing.
   */
  recordReplayEnd(end: EndOfReplay): Promise<Reply>;
  /** Removes the failure. Also succeeds if it is not in the index. */
  remove(identity: string): Promise<Reply>;
}

interface EndOfReplay {
  readonly envelopeId: string;
  readonly replay: string;
  readonly end: 'succeeded' | 'failed';
  readonly atMs: number;
}

interface Entry {
  readonly ok: true;
  /** False if the failure was already in the index. */
  readonly isNew: boolean;
}

/** Where a page ends. Only the store that returned it understands it. */
export type Cursor = string;

interface FailurePage {
  readonly ok: true;
  readonly failures: readonly Failure[];
  /** The cursor of the next page. Undefined on the last page. */
  readonly next?: Cursor;
}

/** All conditions must match. A condition that is not set matches every failure. */
export interface FailureFilter {
  readonly group?: string;
  readonly actor?: string;
  readonly reason?: string;
  readonly flow?: string;
  /** Only envelopes whose id starts with this text. */
  readonly idPrefix?: string;
  /** Only failures at this time or later, in milliseconds since 1970. */
  readonly sinceMs?: number;
}

type RecordReplayReply =
  | Extract<Reply, { ok: true }>
  | (Refusal & { readonly why?: 'already-replayed' | 'gone' });
