import type { DispatchType } from '../../core/delivery/plan.ts';
import type { Fault } from '../../core/envelope/fault.ts';
import type { Exhaustion } from '../../core/policy/policy.ts';

/** What would become of an envelope. All times are milliseconds since it entered. */
export interface Simulation {
  readonly steps: readonly SimulatedStep[];
  readonly end: SimulatedEnd;
  readonly deadline: DeadlineVerdict;
  readonly requests: Requests;
}

/** One delivery: what happened, and why what followed did. */
export interface SimulatedStep {
  readonly actor: string;
  readonly atMs: number;
  /** The end of the call, where one was made. */
  readonly endedMs: number;
  /** Undefined where none was counted: at the crew, and while it waits. */
  readonly attempt?: number;
  readonly call?: SimulatedCall;
  readonly decision: Decision;
  readonly sends: readonly SimulatedSend[];
  readonly settle: 'ack' | 'release';
}

export interface SimulatedCall {
  readonly outcome: 'value' | 'error' | 'timeout' | 'connection';
  readonly tookMs: number;
  /** What it was allowed. */
  readonly timeoutMs: number;
  /** Undefined for a value. */
  readonly fault?: Fault;
}

interface SimulatedSend {
  readonly to: string;
  readonly type: DispatchType;
  readonly delayMs: number;
  /** With what the broker makes of the delay. */
  readonly arrivesMs: number;
}

/** The policy that decided, and how it came to. */
export interface By {
  readonly policy: string;
  /** Counted from 0; undefined where no rule matched. */
  readonly rule?: number;
  /** What in the rule matched: `ValueError`, `http:5xx`. */
  readonly pattern?: string;
  /** Nobody declared it. */
  readonly isBuiltIn: boolean;
  /** Undefined: only time ends it. */
  readonly maxAttempts?: number;
}

export interface Delay {
  readonly delayMs: number;
  /** What the runtime asked for, where that made the delay longer; the policy's cap may have cut it. */
  readonly retryAfterMs?: number;
  readonly hasJitter: boolean;
}

export type Decision =
  /** A value: on along the route, or to x-sink at its end. */
  | { readonly kind: 'passes'; readonly to: string }
  | ({ readonly kind: 'retries'; readonly by: By } & Delay)
  /** A retry would arrive with less than a second left. */
  | ({ readonly kind: 'retries-too-late'; readonly by: By; readonly leftMs: number } & Delay)
  | {
      readonly kind: 'exhausted';
      readonly by: By;
      readonly ranOut: 'attempts' | 'maxDuration' | 'expireAfter';
      /** Of `maxDuration` or `expireAfter`. */
      readonly limitMs?: number;
      readonly onExhausted: Exhaustion;
      readonly reason: string;
    }
  /** No rule and no default takes it. */
  | { readonly kind: 'uncovered'; readonly reason: string }
  /** By the `_on_error` header. */
  | { readonly kind: 'routed'; readonly to: string }
  /** It arrived with less than a second left. */
  | { readonly kind: 'expired'; readonly leftMs: number }
  /** The deadline came during the call. */
  | { readonly kind: 'cut-off' }
  /** Longer than the broker can delay: sent again until it is due. */
  | { readonly kind: 'waits'; readonly dueMs: number }
  /** x-sink has it; what failed goes on to x-sump. */
  | { readonly kind: 'kept'; readonly isForSump: boolean }
  /** x-sump has it. */
  | { readonly kind: 'entered' }
  | { readonly kind: 'failed'; readonly reason: string; readonly problem: string }
  /** A send was refused: the broker delivers again, and dead-letters it in the end. */
  | { readonly kind: 'released'; readonly problem: string };

export type SimulatedEnd =
  | {
      readonly kind: 'ended';
      readonly atMs: number;
      readonly phase: string;
      readonly reason: string;
      /** The actor that finished it or failed at it. */
      readonly actor: string;
      readonly errorType?: string;
      /** Where it ended: x-sink, x-sump, the topic of an escalation. */
      readonly went: readonly string[];
    }
  /** Not acked: it would come again and again until the dead-letter queue takes it. */
  | { readonly kind: 'released'; readonly atMs: number; readonly problem: string }
  /** Left off after so many deliveries. */
  | { readonly kind: 'endless'; readonly atMs: number; readonly deliveries: number };

export type DeadlineVerdict =
  | { readonly verdict: 'none' }
  | { readonly verdict: 'met'; readonly deadlineMs: number; readonly spareMs: number }
  /** It failed before, for another reason. */
  | { readonly verdict: 'not-reached'; readonly deadlineMs: number; readonly spareMs: number }
  /** `how`: the decision that noticed it. */
  | {
      readonly verdict: 'missed';
      readonly deadlineMs: number;
      readonly how: 'expired' | 'cut-off' | 'retries-too-late';
    };

/** For one envelope, each request for itself: batches make it fewer. */
export interface Requests {
  /** The one that let it in included. */
  readonly sends: number;
  readonly receives: number;
  readonly deletes: number;
}
