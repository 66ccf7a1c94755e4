import type { Reason } from '../envelope/envelope.ts';

/** How the delay before the next attempt grows. */
export type Backoff =
  | { readonly kind: 'constant' | 'linear' | 'exponential'; readonly initialMs: number }
  | { readonly kind: 'schedule'; readonly delaysMs: readonly number[] };

/** What becomes of an envelope whose policy has no attempt left. */
export type Exhaustion =
  | { readonly action: 'sink' }
  | { readonly action: 'route'; readonly actors: readonly string[] }
  | { readonly action: 'escalate'; readonly topic: string }
  | { readonly action: 'drop' };

/** A policy as decisions use it: what the user wrote as text is milliseconds here, and nothing is left to look up. */
export interface Policy {
  /** Tries including the first; `Infinity` where only time ends it. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  readonly maxIntervalMs?: number;
  readonly maxDurationMs?: number;
  readonly expireAfterMs?: number;
  readonly jitter: boolean;
  readonly onExhausted: Exhaustion;
  /** What the status says when it ends in the sink. */
  readonly exhaustedReason: Extract<Reason, 'PolicyExhausted' | 'NonRetryableFailure' | 'RuntimeError'>;
}

/** What an error has to be called for a rule to take it. */
export type Pattern =
  | { readonly kind: 'full-name'; readonly name: string }
  | { readonly kind: 'last-name'; readonly name: string }
  | { readonly kind: 'http-status'; readonly status: number }
  | { readonly kind: 'http-class'; readonly hundreds: number };

export interface Rule {
  readonly errors: readonly Pattern[];
  readonly policy: string;
}

/** Everything an actor was told of failures. The policy named `default` takes what no rule does. */
export interface Resiliency {
  readonly policies: ReadonlyMap<string, Policy>;
  readonly rules: readonly Rule[];
}

export const NO_RESILIENCY: Resiliency = { policies: new Map(), rules: [] };
export const DEFAULT_POLICY = 'default';

const ONE_ATTEMPT: Policy = {
  maxAttempts: 1,
  backoff: { kind: 'exponential', initialMs: 0 },
  jitter: false,
  onExhausted: { action: 'sink' },
  exhaustedReason: 'NonRetryableFailure',
};

/** Policies that need no declaring; one of the user's with the same name wins. */
export const BUILT_IN_POLICIES: ReadonlyMap<string, Policy> = new Map([
  ['noRetry', ONE_ATTEMPT],
  ['nonretryable', ONE_ATTEMPT],
]);

/** For a runtime that cannot be reached where neither a rule nor a default says otherwise. */
export const CONNECTION_POLICY: Policy = {
  maxAttempts: 5,
  backoff: { kind: 'exponential', initialMs: 1_000 },
  maxIntervalMs: 30_000,
  jitter: false,
  onExhausted: { action: 'sink' },
  exhaustedReason: 'RuntimeError',
};
