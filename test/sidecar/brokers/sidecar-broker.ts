import type { Ability } from '../../../lib/ports/transport-features.ts';
import type { Variables } from '../sidecar-process.ts';

/** A real broker for sidecars to work with, and the test's own way into its queues. */
export interface SidecarBroker {
  readonly name: string;
  /** What a sidecar needs to know of it. */
  readonly variables: Variables;
  readonly delays: Ability;
  /** A body can be any bytes. */
  readonly anyBytes: Ability;
  /** The queue with its dead-letter queue. */
  createQueue(queue: string): Promise<void>;
  send(queue: string, body: string | Uint8Array): Promise<void>;
  /** Takes what is there now, for good. */
  take(queue: string): Promise<readonly string[]>;
  /** What is in somebody's hands, or waits, is among what is left. */
  readonly countsHidden: boolean;
  /** How many messages each queue still holds when nobody works on them any more. It may take them. */
  leftIn(queues: readonly string[]): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}
