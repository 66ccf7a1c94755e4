import type { DispatchType } from '../../core/delivery/plan.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import type { Fault } from '../../core/envelope/fault.ts';
import type { Exhaustion } from '../../core/policy/policy.ts';

/** What would happen to an envelope. All times are milliseconds since it entered the mesh. */
export interface Simulation {
  /** In the order in which they start. */
  readonly steps: readonly SimulatedStep[];
  /** How the envelope itself ended. */
  readonly end: SimulatedEnd;
  /** How the envelope and each child of its fan-outs ended, earliest first. */
  readonly ends: readonly EnvelopeEnd[];
  readonly deadline: DeadlineVerdict;
  readonly requests: Requests;
}

export interface EnvelopeEnd {
  /** The envelope that was sent to x-sink. If none was: the one that was received last. */
  readonly envelope: Envelope;
  readonly end: SimulatedEnd;
}

/** One delivery: what happened, what was decided and why. */
export interface SimulatedStep {
  readonly envelopeId: string;
  readonly actor: string;
  readonly atMs: number;
  /** The end of the call, if there was one. */
  readonly endedMs: number;
  /** Undefined if no attempt was counted: at the crew, and while the envelope waits until it is due. */
  readonly attempt?: number;
  readonly call?: SimulatedCall;
  readonly decision: Decision;
  readonly sends: readonly SimulatedSend[];
  readonly settle: 'ack' | 'release';
}

export interface SimulatedCall {
  readonly outcome: 'value' | 'error' | 'timeout' | 'connection';
  readonly tookMs: number;
  /** The effective timeout of the call. */
  readonly timeoutMs: number;
  /** Undefined for a value. */
  readonly fault?: Fault;
}

export interface SimulatedSend {
  readonly to: string;
  readonly type: DispatchType;
  readonly delayMs: number;
  /** Includes the broker's rounding of the delay. */
  readonly arrivesMs: number;
  readonly envelope: Envelope;
}

/** The policy that was applied, and how it was chosen. */
export interface AppliedPolicy {
  readonly policy: string;
  /** Index of the rule, from 0. Undefined if no rule matched. */
  readonly rule?: number;
  /** The pattern that matched, for example `ValueError` or `http:5xx`. */
  readonly pattern?: string;
  /** True if the mesh does not declare this policy. */
  readonly isBuiltIn: boolean;
  /** Undefined: attempts are limited by time only. */
  readonly maxAttempts?: number;
}

export interface Delay {
  readonly delayMs: number;
  /** The `retry_after` of the error, if it made the delay longer. The policy's `maxInterval` may have capped it. */
  readonly retryAfterMs?: number;
  readonly hasJitter: boolean;
}

export type Decision =
  /** A value: the envelope goes to the next actor, or to x-sink at the end of the route. */
  | { readonly kind: 'passes'; readonly to: string }
  | ({ readonly kind: 'retries'; readonly by: AppliedPolicy } & Delay)
  /** A retry would arrive with less than 1 s before the deadline. */
  | ({ readonly kind: 'retries-too-late'; readonly by: AppliedPolicy; readonly leftMs: number } & Delay)
  | {
      readonly kind: 'exhausted';
      readonly by: AppliedPolicy;
      readonly ranOut: 'attempts' | 'maxDuration' | 'expireAfter';
      /** Of `maxDuration` or `expireAfter`. */
      readonly limitMs?: number;
      readonly onExhausted: Exhaustion;
      readonly reason: string;
    }
  /** No rule matches, and there is no default policy. */
  | { readonly kind: 'uncovered'; readonly reason: string }
  /** Routed by the `_on_error` header. */
  | { readonly kind: 'routed'; readonly to: string }
  /** It arrived with less than 1 s before the deadline. */
  | { readonly kind: 'expired'; readonly leftMs: number }
  /** The deadline passed during the call. */
  | { readonly kind: 'cut-off' }
  /** The delay is longer than the broker supports: the envelope is resent until it is due. */
  | { readonly kind: 'waits'; readonly dueMs: number }
  /** x-sink archived it, and forwards it to x-sump if it failed. */
  | { readonly kind: 'kept'; readonly isForSump: boolean }
  /** x-sump added it to the failure index. */
  | { readonly kind: 'entered' }
  | { readonly kind: 'failed'; readonly reason: string; readonly problem: string }
  /** A send was refused: the broker redelivers, and finally dead-letters the message. */
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
      /** Where it ended: x-sink, x-sump, or the topic of an escalation. */
      readonly went: readonly string[];
    }
  /** Not acknowledged: the broker would redeliver it until the dead-letter queue takes it. */
  | { readonly kind: 'released'; readonly atMs: number; readonly problem: string }
  /** The simulation ended after this many deliveries without an end. */
  | { readonly kind: 'endless'; readonly atMs: number; readonly deliveries: number };

export type DeadlineVerdict =
  | { readonly verdict: 'none' }
  | { readonly verdict: 'met'; readonly deadlineMs: number; readonly spareMs: number }
  /** It failed before the deadline, for another reason. */
  | { readonly verdict: 'not-reached'; readonly deadlineMs: number; readonly spareMs: number }
  /** `how`: the decision that found the deadline missed. */
  | {
      readonly verdict: 'missed';
      readonly deadlineMs: number;
      readonly how: 'expired' | 'cut-off' | 'retries-too-late';
    };

/** The broker requests for one envelope, each counted separately. Batches reduce the number. */
export interface Requests {
  /** Includes the send that started the envelope. */
  readonly sends: number;
  readonly receives: number;
  readonly deletes: number;
}
