import { instantMs, timestampText } from '../text/timestamp.ts';
import type { Envelope, Phase, Reason, Status, StatusError } from './envelope.ts';

/**
 * The status of an admitted envelope: the attempt, and when this actor's first attempt began (`created_at`).
 *
 * @public
 */
export interface ArrivedStatus extends Status {
  readonly attempt: number;
  readonly created_at: string;
}

export interface ArrivedEnvelope extends Envelope {
  readonly status: ArrivedStatus;
}

/**
 * The envelope with its status on arrival. A retry at the same actor increments the attempt; any other arrival starts
 * with attempt 1. The error is kept only if the envelope was routed here because of it. It is then also the `cause`, which
 * stays when a retry replaces the error.
 */
export function arrive(envelope: Envelope, actor: string, now: number): ArrivedEnvelope {
  const at = timestampText(now);
  const {
    error,
    reason: _reason,
    max_attempts: _max,
    decided_by: _by,
    cause: _cause,
    ...kept
  } = envelope.status ?? {};
  const before = envelope.status;
  if (before?.phase === 'retrying' && before.actor === actor) {
    const attempt = (before.attempt ?? 1) + 1;
    const status = {
      ...before,
      phase: 'pending',
      attempt,
      created_at: before.created_at ?? at,
      updated_at: at,
    };
    return { ...envelope, status };
  }
  const status = { ...kept, phase: 'pending', actor, attempt: 1, created_at: at, updated_at: at };
  const wasRoutedHere = before?.phase === 'failed' && error !== undefined;
  return { ...envelope, status: wasRoutedHere ? { ...status, error, cause: error } : status };
}

interface Change {
  readonly phase: Phase;
  readonly actor: string;
  readonly now: number;
  readonly reason?: Reason;
  readonly error?: StatusError;
  /** `Infinity` means no limit; `max_attempts` is not written then. */
  readonly maxAttempts?: number;
  readonly decidedBy?: DecidedBy;
}

/** The policy that decided, and the index of the rule that selected it. Without a rule, it is the default policy. */
export interface DecidedBy {
  readonly policy: string;
  readonly rule?: number;
}

/**
 * The status after a decision. Its reason, error and `decided_by` replace those of the status before. Only a retry keeps
 * the cause.
 */
export function statusAfter(before: Status | undefined, change: Change): Status {
  const { phase, actor, now, reason, error, maxAttempts, decidedBy } = change;
  const { reason: _reason, error: _error, decided_by: _by, cause, ...kept } = before ?? {};
  // One copy, filled in place: every envelope that is sent passes here.
  const status: { -readonly [Key in keyof Status]: Status[Key] } = kept;
  if (maxAttempts !== undefined) delete status.max_attempts;
  status.phase = phase;
  if (reason !== undefined) status.reason = reason;
  status.actor = actor;
  if (maxAttempts !== undefined && maxAttempts !== Number.POSITIVE_INFINITY)
    status.max_attempts = maxAttempts;
  status.updated_at = timestampText(now);
  if (decidedBy !== undefined) status.decided_by = decidedBy;
  if (error !== undefined) status.error = error;
  if (phase === 'retrying' && cause !== undefined) status.cause = cause;
  return status;
}

/** When the deadline is, in milliseconds since 1970. */
export function deadlineMs(envelope: Envelope): number | undefined {
  return instantMs(envelope.status?.deadline_at);
}
