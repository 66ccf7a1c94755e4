/** What a queue and its dead-letter queue are made with, wherever they are made. */
export interface QueuePlan {
  readonly visibilitySeconds: number;
  /** So many deliveries without an ack, and the dead-letter queue takes it. */
  readonly maxReceiveCount: number;
  readonly retentionSeconds: number;
  /** Longer than the queue's own: what is dead-lettered keeps the age it had. */
  readonly deadLetterRetentionSeconds: number;
  /** No less than x-dlq, which drains it, may hold a message. */
  readonly deadLetterVisibilitySeconds: number;
}

/** Throttled polls count as receives too: fewer than five would dead-letter what never failed. */
export const MIN_RECEIVE_COUNT = 5;
const DAY_SECONDS = 86_400;
/** As long as SQS keeps anything. */
export const MAX_RETENTION_SECONDS = 14 * DAY_SECONDS;

/** What one of the crew may take for an envelope: a few requests to its stores. */
export const CREW_TIMEOUT_MS = 30_000;
/** Twice that, and never less than its function may hold a message. */
export const CREW_VISIBILITY_SECONDS = 70;

/** What whoever deploys a mesh may choose for all its queues. */
export type QueueChoices = Partial<
  Pick<QueuePlan, 'maxReceiveCount' | 'retentionSeconds' | 'deadLetterRetentionSeconds'>
>;

export function queuePlan(visibilitySeconds: number, choices: QueueChoices = {}): QueuePlan {
  return {
    visibilitySeconds,
    maxReceiveCount: MIN_RECEIVE_COUNT,
    retentionSeconds: 4 * DAY_SECONDS,
    deadLetterRetentionSeconds: MAX_RETENTION_SECONDS,
    deadLetterVisibilitySeconds: CREW_VISIBILITY_SECONDS,
    ...choices,
  };
}
