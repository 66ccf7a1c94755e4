import type { DeriveId } from '../envelope/decode.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { FLOW, headerText, TASK } from '../envelope/headers.ts';
import { defined } from '../text/defined.ts';
import { type Fields, isFields } from '../text/fields.ts';
import { instantMs } from '../text/timestamp.ts';
import { headWithinUtf8 } from '../text/utf8.ts';
import { fingerprintOf } from './fingerprint.ts';
import { type ArchivedRecord, recordOf } from './record.ts';

/** An entry of the failure index. The failed envelope itself is in the archive. */
export interface Failure {
  /** The identity of its end record. */
  readonly identity: string;
  readonly envelopeId: string;
  readonly actor: string;
  readonly flow?: string;
  readonly task?: string;
  readonly reason: string;
  readonly errorType: string;
  readonly errorMessage: string;
  /** The same for all failures with the same cause. */
  readonly fingerprint: string;
  /** When its actor's first attempt began. */
  readonly firstSeenMs: number;
  /** When it failed finally. */
  readonly lastSeenMs: number;
  readonly attempts: number;
  readonly archiveKey: string;
  /** The replay that sent the envelope, if it failed after one. */
  readonly replay?: string;
  readonly replays: readonly ReplayEntry[];
  /** The replay in which the envelope succeeded, of this failure or of a later one. */
  readonly resolved?: Resolution;
}

interface Resolution {
  readonly replay: string;
  readonly atMs: number;
}

/** One replay of a failure. */
export interface ReplayEntry {
  readonly replay: string;
  readonly atMs: number;
  readonly to: string;
  /** Set if the envelope failed again in this replay. Absent until it has ended, and if it succeeded. */
  readonly end?: 'failed';
}

const MAX_MESSAGE_BYTES = 1024;

export function failureOf(envelope: Envelope, now: number, deriveId: DeriveId): Failure {
  const record = recordOf(envelope, now, deriveId);
  const error = errorOf(envelope);
  const flow = headerText(envelope.headers, FLOW);
  const task = headerText(envelope.headers, TASK);
  const { status } = envelope;
  return {
    ...identityOf(record),
    ...defined({ flow, task }),
    reason: record.reason || 'RuntimeError',
    errorType: error.type,
    errorMessage: headWithinUtf8(error.message, MAX_MESSAGE_BYTES),
    fingerprint: fingerprintOf({ actor: record.actor, errorType: error.type, ...error }, deriveId),
    firstSeenMs: instantMs(status?.created_at) ?? record.atMs,
    lastSeenMs: record.atMs,
    attempts: status?.attempt ?? 1,
    replays: [],
  };
}

function identityOf({ identity, envelopeId, actor, archiveKey, replay }: ArchivedRecord) {
  return { identity, envelopeId, actor, archiveKey, ...defined({ replay }) };
}

export interface ErrorSummary {
  readonly type: string;
  readonly message: string;
  readonly traceback: string;
}

/** The error of a status. Other writers than the sidecar may have written a text instead of an object. */
export function errorOf({ status }: Envelope): ErrorSummary {
  const error: Fields = isFields(status?.error) ? status.error : { message: status?.error };
  const { type, message, traceback } = error;
  return { type: textOf(type) || 'unknown', message: textOf(message), traceback: textOf(traceback) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
