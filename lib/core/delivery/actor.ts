import type { Resiliency } from '../policy/policy.ts';
import type { FanOut } from './answer.ts';

/** Everything that a decision needs to know about the actor. */
export interface Actor {
  readonly name: string;
  /** The actor at the end of every route: x-sink. */
  readonly sink: string;
  /** End actors and the crew: they accept every envelope whatever its route is, and their answers are discarded. */
  readonly isEnd: boolean;
  /** Set for x-sink, x-sump and x-dlq, unless they run a handler of the user. */
  readonly crew?: Crew;
  /** The limit for one call of the runtime. */
  readonly timeoutMs: number;
  /** The hop budget: how many actors an envelope may pass. */
  readonly maxHops: number;
  readonly fanOut: FanOut;
  /** The actors that a handler may add to the route (`ASYA_ROUTE_ALLOW`). Undefined: any actor. */
  readonly routeAllow?: ReadonlySet<string>;
  readonly resiliency: Resiliency;
}

/** The role of an actor of the crew. */
export type Crew =
  /** Records every end, and forwards failed envelopes to x-sump. */
  | { readonly role: 'sink'; readonly sump: string }
  /** Adds failed envelopes to the failure index. */
  | { readonly role: 'sump' }
  /** Drains dead-letter queues. The name of such a queue is `{queuePrefix}{actor}-dlq`. */
  | { readonly role: 'dlq'; readonly queuePrefix: string };

/** The limits of a transport that decisions depend on. */
export interface Limits {
  /** The longest delay of one send. 0 if the transport does not support delays. */
  readonly maxDelayMs: number;
  /** The largest message body. */
  readonly maxBodyBytes: number;
}
