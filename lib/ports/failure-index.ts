import type { Failure, ReplayEntry } from '../core/failure/failure.ts';
import type { Refusal, Reply } from './reply.ts';

/** What failed, to be looked at and replayed. */
export interface FailureIndex {
  /** Enters it unless it is there: entered again, it changes nothing. */
  enter(failure: Failure): Promise<Entry | Refusal>;
  /** Newest first, a page at a time: without a cursor the first one, with a page's `next` the one after it. */
  list(filter: FailureFilter, cursor?: Cursor): Promise<FailurePage | Refusal>;
  /** Of one envelope, newest first. */
  ofEnvelope(envelopeId: string): Promise<FailurePage | Refusal>;
  /**
   * Notes that it is being sent once more. Refused as `already-replayed` where that was done before and is not said to
   * be wanted again, also against somebody who does the same at the same time; as `gone` where it was removed. The same replay's note
   * once more is accepted: its answer may have been lost.
   */
  noteReplay(identity: string, note: ReplayEntry, again: boolean): Promise<NoteReply>;
  /** Takes the note back: the send was refused. */
  withdrawReplay(identity: string, replay: string): Promise<Reply>;
  remove(identity: string): Promise<Reply>;
}

interface Entry {
  readonly ok: true;
  readonly isNew: boolean;
}

/** The store's own mark of where a page ended. */
export type Cursor = Readonly<Record<string, unknown>>;

interface FailurePage {
  readonly ok: true;
  readonly failures: readonly Failure[];
  /** Undefined: it was the last one. */
  readonly next?: Cursor;
}

export interface FailureFilter {
  readonly group?: string;
  readonly actor?: string;
  readonly reason?: string;
  readonly flow?: string;
  /** Failed then or later. */
  readonly sinceMs?: number;
}

type NoteReply = Extract<Reply, { ok: true }> | (Refusal & { readonly why?: 'already-replayed' | 'gone' });
