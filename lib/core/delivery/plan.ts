import { encode } from '../envelope/encode.ts';
import type { Envelope } from '../envelope/envelope.ts';

/**
 * What to do with a delivery: make the sends, then ack or release it, then report the facts. If a send is refused, the
 * delivery is not acknowledged.
 */
export interface Plan {
  readonly dispatches: readonly Dispatch[];
  readonly settle: 'ack' | 'release';
  readonly facts: readonly Fact[];
  /** The plan to follow instead if a send is refused. Without one, the delivery is released. */
  readonly otherwise?: Plan;
}

/** One send of a plan. */
export interface Dispatch {
  /** An actor's name; for an escalation, the name of a topic or queue. */
  readonly to: string;
  readonly type: DispatchType;
  readonly delayMs: number;
  readonly envelope: Envelope;
  /** The encoded envelope. */
  readonly body: string;
}

export type DispatchType = 'next' | 'retry' | 'routed' | 'sink' | 'sump' | 'escalation' | 'again';

/** One thing worth counting or logging. All metrics and logs about a delivery are derived from facts. */
export type Fact =
  | {
      readonly fact: 'result';
      readonly result: Result;
      /** Until the next attempt. Set if the result is `retried`. */
      readonly delayMs?: number;
    }
  | { readonly fact: 'failed'; readonly reason: FailedReason }
  | { readonly fact: 'runtime-error'; readonly errorType: RuntimeErrorType }
  | { readonly fact: 'sent'; readonly to: string; readonly type: DispatchType }
  /** A failure was added to the index. */
  | { readonly fact: 'failure'; readonly actor: string; readonly reason: string }
  | {
      readonly fact: 'policy';
      readonly policy: string;
      readonly rule?: number;
      /** Undefined: attempts are limited by time only. */
      readonly maxAttempts?: number;
    };

export const RESULTS = [
  'success',
  'empty_response',
  'end_consumed',
  'error',
  'retried',
  'policy_routed',
  'sla_expired',
  'escalated',
  'dropped',
  'canceled',
  /** Not due yet: resent with a delay. */
  'deferred',
  /** Resent unchanged: the host had no time left, or the runtime was killed because of another call. */
  'returned',
] as const;
export type Result = (typeof RESULTS)[number];

export const FAILED_REASONS = [
  'retry_send_failed',
  'policy_exhausted',
  'runtime_error',
  'sla_timeout',
  'timeout',
  'parse_error',
  'validation_error',
  'route_mismatch',
  'transport_error',
] as const;
export type FailedReason = (typeof FAILED_REASONS)[number];

export const RUNTIME_ERROR_TYPES = ['execution', 'timeout', 'connection'] as const;
export type RuntimeErrorType = (typeof RUNTIME_ERROR_TYPES)[number];

export function dispatchOf(to: string, type: DispatchType, envelope: Envelope, delayMs = 0): Dispatch {
  return { to, type, delayMs, envelope, body: encode(envelope) };
}

/** Acknowledges the delivery after the sends were accepted. Adds a `sent` fact for each of them. */
export function ackAfter(dispatches: readonly Dispatch[], facts: readonly Fact[], otherwise?: Plan): Plan {
  const sent = dispatches.map(({ to, type }): Fact => ({ fact: 'sent', to, type }));
  const plan: Plan = { dispatches, settle: 'ack', facts: [...facts, ...sent] };
  return otherwise === undefined ? plan : { ...plan, otherwise };
}

/** Sends nothing and does not acknowledge: the broker delivers the message again, and finally dead-letters it. */
export function releaseWith(facts: readonly Fact[]): Plan {
  return { dispatches: [], settle: 'release', facts };
}

/** The plan to follow after a send of the given plan was refused. */
export function planAfterRefusal(plan: Plan): Plan {
  return plan.otherwise ?? releaseWith([failedFact('transport_error')]);
}

export function resultFact(result: Result): Extract<Fact, { fact: 'result' }> {
  return { fact: 'result', result };
}

export function failedFact(reason: FailedReason): Fact {
  return { fact: 'failed', reason };
}
