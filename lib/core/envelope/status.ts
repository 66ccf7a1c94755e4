import { defined } from '../text/defined.ts';
import { instantMs, timestampText } from '../text/timestamp.ts';
import type { Envelope, Phase, Reason, Status, StatusError } from './envelope.ts';

/**
 * What the sidecar needs of a status once an envelope was admitted: the attempt and when this actor's first began.
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

/** The envelope as this actor takes it on: a retry counts one up, anything else starts anew. */
export function arrive(envelope: Envelope, actor: string, now: number): ArrivedEnvelope {
  const at = timestampText(now);
  const { error, reason: _reason, max_attempts: _most, decided_by: _by, ...kept } = envelope.status ?? {};
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
  return { ...envelope, status: wasRoutedHere ? { ...status, error } : status };
}

interface Change {
  readonly phase: Phase;
  readonly actor: string;
  readonly now: number;
  readonly reason?: Reason;
  readonly error?: StatusError;
  /** `Infinity`: no limit, and none is written. */
  readonly maxAttempts?: number;
  readonly decidedBy?: DecidedBy;
}

/** The policy that decided, and the rule that named it, counted from 0; without one it was the default. */
export interface DecidedBy {
  readonly policy: string;
  readonly rule?: number;
}

/** The status after a decision. Reason, error and who decided are its own: what stood there before is gone. */
export function statusAfter(before: Status | undefined, change: Change): Status {
  const { reason: _reason, error: _error, decided_by: _by, ...kept } = before ?? {};
  const { phase, actor, now, reason, error, maxAttempts, decidedBy } = change;
  const { max_attempts: _limit, ...unlimited } = kept;
  return {
    ...(maxAttempts === undefined ? kept : unlimited),
    phase,
    ...defined({ reason }),
    actor,
    ...(maxAttempts === undefined || maxAttempts === Number.POSITIVE_INFINITY
      ? {}
      : { max_attempts: maxAttempts }),
    updated_at: timestampText(now),
    ...defined({ decided_by: decidedBy, error }),
  };
}

export function deadlineMs(envelope: Envelope): number | undefined {
  return instantMs(envelope.status?.deadline_at);
}
