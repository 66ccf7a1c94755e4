import type { Reason } from '../envelope/envelope.ts';

/** How the delay before the next attempt grows. */
export type Backoff =
  | { readonly kind: 'constant' | 'linear' | 'exponential'; readonly initialMs: number }
  | { readonly kind: 'schedule'; readonly delaysMs: readonly number[] };

/** What to do with an envelope when its policy is exhausted. */
export type Exhaustion =
  | { readonly action: 'sink' }
  | { readonly action: 'route'; readonly actors: readonly string[] }
  | { readonly action: 'escalate'; readonly topic: string }
  | { readonly action: 'drop' };

/** A compiled policy: durations are milliseconds, and defaults are applied. `PolicyInput` is what the user writes. */
export interface Policy {
  /** Attempts including the first. `Infinity`: only `maxDurationMs` or `expireAfterMs` ends the retries. */
  readonly maxAttempts: number;
  readonly backoff: Backoff;
  /** The longest delay before an attempt. */
  readonly maxIntervalMs?: number;
  /** How long after the actor's first attempt the policy is exhausted. */
  readonly maxDurationMs?: number;
  /** How long after the event (the `event_time` header) the policy is exhausted. */
  readonly expireAfterMs?: number;
  /** Whether up to 10 % is added to each delay at random. */
  readonly jitter: boolean;
  readonly onExhausted: Exhaustion;
  /** `status.reason` if the exhausted envelope goes to x-sink. */
  readonly exhaustedReason: Extract<Reason, 'PolicyExhausted' | 'NonRetryableFailure' | 'RuntimeError'>;
}

/** What a rule compares an error with: `pkg.ValueError`, `ValueError`, `http:503` or `http:5xx`. */
export type Pattern =
  | { readonly kind: 'full-name'; readonly name: string }
  | { readonly kind: 'last-name'; readonly name: string }
  | { readonly kind: 'http-status'; readonly status: number }
  | { readonly kind: 'http-class'; readonly hundreds: number };

/** Selects a policy, by name, for errors that match one of the patterns. */
export interface Rule {
  readonly errors: readonly Pattern[];
  readonly policy: string;
}

/** The policies and rules of an actor. The policy named `default` applies if no rule matches. */
export interface Resiliency {
  readonly policies: ReadonlyMap<string, Policy>;
  readonly rules: readonly Rule[];
}

export const NO_RESILIENCY: Resiliency = { policies: new Map(), rules: [] };
export const DEFAULT_POLICY = 'default';

/** No retry. */
export const ONE_ATTEMPT: Policy = {
  maxAttempts: 1,
  backoff: { kind: 'exponential', initialMs: 0 },
  jitter: false,
  onExhausted: { action: 'sink' },
  exhaustedReason: 'NonRetryableFailure',
};

/** Policies that exist without being declared. A declared policy of the same name replaces a built-in one. */
export const BUILT_IN_POLICIES: ReadonlyMap<string, Policy> = new Map([
  ['noRetry', ONE_ATTEMPT],
  ['nonretryable', ONE_ATTEMPT],
]);

/** Applies if the runtime cannot be reached and the actor has neither a matching rule nor a default policy. */
export const CONNECTION_POLICY: Policy = {
  maxAttempts: 5,
  backoff: { kind: 'exponential', initialMs: 1_000 },
  maxIntervalMs: 30_000,
  jitter: false,
  onExhausted: { action: 'sink' },
  exhaustedReason: 'RuntimeError',
};
