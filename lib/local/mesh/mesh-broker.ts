import type { QueueDepths } from '../../adapters/sqs/queue-depths.ts';
import type { PlannedQueue } from '../../config/plan/function-plan.ts';
import type { ActorRunner, RunnerOptions } from './actor-runner.ts';

/** What carries the envelopes of a mesh on this machine, and runs its actors as their host would. */
export interface MeshBroker {
  /** In a word or two, for whoever starts the mesh. */
  readonly description: string;
  /** What a sidecar is told to reach it by. */
  readonly variables: Readonly<Record<string, string>>;
  /** Part of every queue's name, where the broker's rules ask for one. */
  readonly namespace?: string;
  /** Whether the gateway has to work its timers itself: no function is invoked with them. */
  readonly gatewayWorksTimers: boolean;
  /** The queue with its dead-letter queue, as planned. */
  ensureQueue(queue: PlannedQueue): Promise<void>;
  /** Undefined where there is no such queue, or where nobody can tell. */
  depths(queue: string): Promise<QueueDepths | undefined>;
  run(options: RunnerOptions): Promise<ActorRunner>;
  close(): Promise<void>;
}
