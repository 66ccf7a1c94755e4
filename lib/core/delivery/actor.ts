import type { Resiliency } from '../policy/policy.ts';
import type { FanOut } from './answer.ts';

/** Everything a decision needs to know of the actor it is made for. */
export interface Actor {
  readonly name: string;
  /** The actor at the end of every route. */
  readonly sink: string;
  /** End actors and the crew: what comes is theirs, whatever its route says, and nothing is sent on. */
  readonly isEnd: boolean;
  /** Set for the mesh's own actors where they have no runtime of the user's. */
  readonly crew?: Crew;
  readonly timeoutMs: number;
  readonly maxHops: number;
  readonly fanOut: FanOut;
  /** Who may follow where a handler rewrites the route; undefined: anyone. */
  readonly routeAllow?: ReadonlySet<string>;
  readonly resiliency: Resiliency;
}

/** What one of the mesh's own actors is there for. */
export type Crew =
  /** Keeps every end, and forwards what failed to the sump. */
  | { readonly role: 'sink'; readonly sump: string }
  /** Enters what failed into the failure index. */
  | { readonly role: 'sump' }
  /** Drains dead-letter queues; without the prefix and `-dlq`, such a queue is called as its actor. */
  | { readonly role: 'dlq'; readonly queuePrefix: string };

/** What a transport can do, as far as decisions depend on it. */
export interface Limits {
  /** The longest delay of one send; 0 where it knows no delays. */
  readonly maxDelayMs: number;
  /** The largest body of one message. */
  readonly maxBodyBytes: number;
}
