import { encode } from '../envelope/encode.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { defined } from '../text/defined.ts';

/** What becomes of a delivery: sends to make, then ack or release, and what there is to tell once they were accepted. */
export interface Plan {
  readonly dispatches: readonly Dispatch[];
  readonly settle: 'ack' | 'release';
  readonly facts: readonly Fact[];
  /** The plan to follow instead where a send is refused; without one, the delivery is released. */
  readonly otherwise?: Plan;
}

export interface Dispatch {
  /** An actor's name; for an escalation, the name of a topic or queue. */
  readonly to: string;
  readonly type: DispatchType;
  readonly delayMs: number;
  readonly envelope: Envelope;
  /** The envelope as it is sent. */
  readonly body: string;
}

export type DispatchType = 'next' | 'retry' | 'routed' | 'sink' | 'sump' | 'escalation' | 'again';

/** One thing worth counting or logging. Metrics and logs are made of these and nothing else. */
export type Fact =
  | { readonly fact: 'result'; readonly result: Result }
  | { readonly fact: 'failed'; readonly reason: FailedReason }
  | { readonly fact: 'runtime-error'; readonly errorType: RuntimeErrorType }
  | { readonly fact: 'sent'; readonly to: string; readonly type: DispatchType }
  /** A failure was entered into the index. */
  | { readonly fact: 'failure'; readonly actor: string; readonly reason: string }
  | { readonly fact: 'policy'; readonly policy: string; readonly rule?: number };

export type Result =
  | 'success'
  | 'empty_response'
  | 'end_consumed'
  | 'error'
  | 'retried'
  | 'policy_routed'
  | 'sla_expired'
  | 'escalated'
  | 'dropped'
  | 'canceled'
  /** Not yet due: sent again to wait. */
  | 'deferred'
  /** Sent again unchanged, for a host with time or a runtime that lives. */
  | 'returned';

export type FailedReason =
  | 'retry_send_failed'
  | 'policy_exhausted'
  | 'runtime_error'
  | 'sla_timeout'
  | 'timeout'
  | 'parse_error'
  | 'validation_error'
  | 'route_mismatch'
  | 'transport_error';

export type RuntimeErrorType = 'execution' | 'timeout' | 'connection';

export function dispatchOf(to: string, type: DispatchType, envelope: Envelope, delayMs = 0): Dispatch {
  return { to, type, delayMs, envelope, body: encode(envelope) };
}

export function ackAfter(dispatches: readonly Dispatch[], facts: readonly Fact[], otherwise?: Plan): Plan {
  const sent = dispatches.map(({ to, type }): Fact => ({ fact: 'sent', to, type }));
  return {
    dispatches,
    settle: 'ack',
    facts: [...facts, ...sent],
    ...defined({ otherwise }),
  };
}

/** Nothing is sent and nothing settled: the broker delivers again, and in the end dead-letters it. */
export function releaseWith(facts: readonly Fact[]): Plan {
  return { dispatches: [], settle: 'release', facts };
}

/** What is left to do where a send of the plan was refused. */
export function planAfterRefusal(plan: Plan): Plan {
  return plan.otherwise ?? releaseWith([failedFact('transport_error')]);
}

export function resultFact(result: Result): Fact {
  return { fact: 'result', result };
}

export function failedFact(reason: FailedReason): Fact {
  return { fact: 'failed', reason };
}
