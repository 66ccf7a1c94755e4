/** The attributes of a queue and its dead-letter queue. */
export interface QueuePlan {
  readonly visibilitySeconds: number;
  /** After this many receives without an ack, a message goes to the dead-letter queue. */
  readonly maxReceiveCount: number;
  readonly retentionSeconds: number;
  /** Longer than the retention of the queue, because a dead-lettered message keeps its age. */
  readonly deadLetterRetentionSeconds: number;
  /** At least as long as x-dlq, which drains the queue, may hold a message. */
  readonly deadLetterVisibilitySeconds: number;
}

/** Throttled polls count as receives, so with fewer than five, messages that never failed would be dead-lettered. */
export const MIN_RECEIVE_COUNT = 5;
const DAY_SECONDS = 86_400;
/** The maximum of SQS. */
export const MAX_RETENTION_SECONDS = 14 * DAY_SECONDS;

/** Timeout of a crew actor: it makes a few requests to its stores per envelope. */
export const CREW_TIMEOUT_MS = 30_000;
/** About twice that, and at least as long as its function may hold a message. */
export const CREW_VISIBILITY_SECONDS = 70;

/** What a deployment can choose for all queues of a mesh. */
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
