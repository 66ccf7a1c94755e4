/** What a queue and its dead-letter queue are made with, wherever they are made. */
export interface QueuePlan {
  readonly visibilitySeconds: number;
  /** So many deliveries without an ack, and the dead-letter queue takes it. */
  readonly maxReceiveCount: number;
  readonly retentionSeconds: number;
  /** Longer than the queue's own: what is dead-lettered keeps the age it had. */
  readonly deadLetterRetentionSeconds: number;
}

/** Throttled polls count as receives too: fewer than five would dead-letter what never failed. */
export const LEAST_RECEIVE_COUNT = 5;
const DAY_SECONDS = 86_400;

export function queuePlan(visibilitySeconds: number): QueuePlan {
  return {
    visibilitySeconds,
    maxReceiveCount: LEAST_RECEIVE_COUNT,
    retentionSeconds: 4 * DAY_SECONDS,
    deadLetterRetentionSeconds: 14 * DAY_SECONDS,
  };
}
