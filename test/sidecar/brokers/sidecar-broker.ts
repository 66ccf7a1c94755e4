import type { Ability } from '../../../lib/ports/transport-features.ts';
import type { Variables } from '../sidecar-process.ts';

/** A real broker for sidecars, and the test's own access to its queues. */
export interface SidecarBroker {
  readonly name: string;
  /** The environment variables that a sidecar needs to connect. */
  readonly variables: Variables;
  readonly delays: Ability;
  /** Whether a body can be any bytes. */
  readonly anyBytes: Ability;
  /** Creates the queue with its dead-letter queue. */
  createQueue(queue: string): Promise<void>;
  send(queue: string, body: string | Uint8Array): Promise<void>;
  /** Receives and acknowledges everything that is in the queue now. */
  take(queue: string): Promise<readonly string[]>;
  /** Whether `leftIn` counts unacknowledged and delayed messages. */
  readonly countsHidden: boolean;
  /** How many messages each queue contains after all consumers have ended. It may receive them to count them. */
  leftIn(queues: readonly string[]): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}
