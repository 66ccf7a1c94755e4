import type { Limits } from '../core/delivery/actor.ts';
import { ACCEPTED, type Refusal, type Reply } from './reply.ts';

/**
 * A broker with named queues. Delivery is at least once and in no particular order. Expected failures are returned as a
 * `Refusal`, never thrown.
 *
 * To add a transport, implement this interface and run the contract suite (`test/contract`) on it.
 */
export interface Transport {
  readonly traits: Traits;
  /**
   * Waits for deliveries, and returns at most `maxDeliveries` of them: none if the wait ends or the signal aborts first.
   * A delivery is hidden from other consumers for the visibility timeout. It is delivered again if it is neither acked
   * nor nacked by then.
   * @param maxDeliveries At least 1, at most `traits.maxBatch`.
   */
  receive(queue: string, maxDeliveries: number, signal: AbortSignal): Promise<Receipt>;
  /** Sends a message. If accepted, the broker has stored it durably. Refused if it exceeds `traits.maxBodyBytes`. */
  send(queue: string, body: string): Promise<Reply>;
  /**
   * Sends a message that arrives after the delay at the earliest. Refused if the body is too large for a delayed send,
   * or if the transport has no delays.
   * @param delayMs At most `traits.maxDelayMs`.
   */
  sendWithDelay(queue: string, body: string, delayMs: number): Promise<Reply>;
  /** Acknowledges a delivery: the message is done. If refused, the message may be delivered again. */
  ack(delivery: Delivery): Promise<Reply>;
  /** Releases a delivery: the message is delivered again, after the pause at the earliest. */
  nack(delivery: Delivery, pauseMs: number): Promise<Reply>;
  /** Restarts the visibility timeout of a delivery. If refused, the message may already be delivered to others. */
  extend(delivery: Delivery): Promise<Reply>;
  /**
   * Creates the queue and its dead-letter queue if they do not exist. An existing queue stays as it is; attributes that
   * differ from the configured ones are reported.
   */
  ensureQueue(queue: string): Promise<EnsuredQueue>;
  /** Checks whether the queue exists and the broker responds. */
  checkQueue(queue: string): Promise<Reply>;
  /** Sends what waits in batches now, without waiting for more. Missing if the transport never waits. */
  flush?(): void;
  /** Waits for requests in flight, and ends every connection and timer. Calling it twice is harmless. */
  close(): Promise<void>;
}

/** What a transport supports. */
interface Traits extends Limits {
  /** Lower-case letters, for logs and metrics, such as `sqs`. */
  readonly name: string;
  /** Most deliveries that one receive can return. */
  readonly maxBatch: number;
  /** The visibility timeout. Undefined if the broker waits for an ack as long as the connection lives. */
  readonly visibilityMs?: number;
  /** Whether the broker counts how often it delivers a message. */
  readonly countsReceives: boolean;
}

/** One receipt of a message. */
export interface Delivery {
  readonly body: string | Uint8Array;
  /** The broker's message id. It is the same on every delivery of the message. */
  readonly messageId: string;
  /** How often the message was delivered, including this time; 1 if the broker does not count. */
  readonly receiveCount: number;
  readonly queue: string;
  /** What the transport needs to settle the delivery. Only the transport reads it. */
  readonly handle: unknown;
}

export type EnsuredQueue =
  | {
      readonly ok: true;
      /** How an existing queue differs from the configuration, such as `VisibilityTimeout is 30, expected 600`. */
      readonly differences?: readonly [string, ...string[]];
    }
  | Refusal;

export type Receipt = { readonly ok: true; readonly deliveries: readonly Delivery[] } | Refusal;

/** The reply for an existing queue with the given differences. */
export function ensured([first, ...others]: readonly string[]): EnsuredQueue {
  return first === undefined ? ACCEPTED : { ok: true, differences: [first, ...others] };
}
