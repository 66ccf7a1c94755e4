import type { FanOut } from './answer.ts';
import type { Resiliency } from './policy.ts';

/** Everything a decision needs to know of the actor it is made for. */
export interface Actor {
  readonly name: string;
  /** The actor at the end of every route. */
  readonly sink: string;
  /** End actors and the crew: what comes is theirs, whatever its route says, and nothing is sent on. */
  readonly isEnd: boolean;
  readonly timeoutMs: number;
  readonly maxHops: number;
  readonly fanOut: FanOut;
  /** Who may follow where a handler rewrites the route; undefined: anyone. */
  readonly routeAllow?: ReadonlySet<string>;
  readonly resiliency: Resiliency;
}

/** What a transport can do, as far as decisions depend on it. */
export interface Limits {
  /** The longest delay of one send; 0 where it knows no delays. */
  readonly maxDelayMs: number;
  /** The largest body of one message. */
  readonly maxBodyBytes: number;
}

export const NO_LIMITS: Limits = {
  maxDelayMs: Number.POSITIVE_INFINITY,
  maxBodyBytes: Number.POSITIVE_INFINITY,
};
