import type { QueueDepths } from '../../adapters/sqs/queue-depths.ts';
import type { PlannedQueue } from '../../config/plan/function-plan.ts';
import type { ActorRunner, RunnerOptions } from './actor-runner.ts';

/** The transport of a local mesh. It also runs the actors as their host would. */
export interface MeshBroker {
  /** Short description for the user, e.g. `SQS at http://127.0.0.1:4566`. */
  readonly description: string;
  /** Settings of a sidecar that connect it to the broker. */
  readonly variables: Readonly<Record<string, string>>;
  /** Part of all queue names, if the broker's naming rules require it. */
  readonly namespace?: string;
  /** Whether the gateway has to process its timers itself, because no function does. */
  readonly gatewayWorksTimers: boolean;
  /** Creates or updates the planned queue and its dead-letter queue. */
  ensureQueue(queue: PlannedQueue): Promise<void>;
  /** Undefined if the queue does not exist or the broker does not report depths. */
  depths(queue: string): Promise<QueueDepths | undefined>;
  run(options: RunnerOptions): Promise<ActorRunner>;
  close(): Promise<void>;
}
