import type { Limits } from '../core/delivery/actor.ts';
import { ACCEPTED, type Refusal, type Reply } from './reply.ts';

/** A broker with named queues: at least once, in no particular order. Expected failures are values, never thrown. */
export interface Transport {
  readonly traits: Traits;
  /**
   * Waits for deliveries and gives at most so many; none when the wait was over or aborted. A delivery stays hidden
   * from others for the transport's visibility time, and comes again when it was neither acked nor nacked by then.
   */
  receive(queue: string, most: number, signal: AbortSignal): Promise<Receipt>;
  /** Accepted: the broker has it, durably. */
  send(queue: string, body: string): Promise<Reply>;
  /** Arrives no sooner than after the delay, which is at most `traits.maxDelayMs`. */
  sendWithDelay(queue: string, body: string, delayMs: number): Promise<Reply>;
  /** Done with it: it does not come again. */
  ack(delivery: Delivery): Promise<Reply>;
  /** Not done with it: it comes again, no sooner than after the pause. */
  nack(delivery: Delivery, pauseMs: number): Promise<Reply>;
  /** Hidden for the whole visibility time again, from now on. */
  extend(delivery: Delivery): Promise<Reply>;
  /**
   * Creates the queue with its dead-letter queue if it is missing. An existing queue is left as it is; attributes that
   * differ from the configured ones are reported.
   */
  ensureQueue(queue: string): Promise<EnsuredQueue>;
  /** Whether the queue can be reached now. */
  reach(queue: string): Promise<Reply>;
  /** Waits for what is under way, and leaves nothing running. */
  close(): Promise<void>;
}

/** What a transport can do, as data: what it cannot is never a surprise. */
interface Traits extends Limits {
  readonly name: string;
  /** How many deliveries one receive can bring. */
  readonly maxBatch: number;
  /** For how long a delivery is hidden from others; undefined where the broker waits for as long as it takes. */
  readonly visibilityMs?: number;
  /** Whether the broker says how often it delivered a message. */
  readonly countsReceives: boolean;
}

export interface Delivery {
  readonly body: string | Uint8Array;
  /** The broker's id of the message, the same when it delivers it again. */
  readonly messageId: string;
  /** How often it was delivered, this time included; 1 where the broker does not count. */
  readonly receiveCount: number;
  readonly queue: string;
  /** The transport's own handle. */
  readonly handle: unknown;
}

export type EnsuredQueue =
  | {
      readonly ok: true;
      /** Such as `VisibilityTimeout is 30, expected 600`. */
      readonly differences?: readonly [string, ...string[]];
    }
  | Refusal;

export type Receipt = { readonly ok: true; readonly deliveries: readonly Delivery[] } | Refusal;

/** A queue that is there, with what differs from the configured attributes. */
export function ensured([first, ...others]: readonly string[]): EnsuredQueue {
  return first === undefined ? ACCEPTED : { ok: true, differences: [first, ...others] };
}
