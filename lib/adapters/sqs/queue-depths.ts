import { deadLetterQueueName } from '../../config/settings/queue-name.ts';
import { queueAttributes, queueUrlIfExists } from './queue-attributes.ts';
import type { SqsApi } from './sqs-api.ts';

/** Approximate numbers of messages. */
export interface QueueDepths {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  /** In the dead-letter queue, in any state. */
  readonly deadLettered: number;
}

/**
 * Undefined if the queue does not exist. The embedded engine updates its counts only when somebody receives: until then,
 * messages that are due or visible again still count as delayed or in flight.
 */
export async function queueDepths(sqs: SqsApi, name: string): Promise<QueueDepths | undefined> {
  const [live, dead] = await Promise.all([countsOf(sqs, name), countsOf(sqs, deadLetterQueueName(name))]);
  if (live === undefined) return undefined;
  const { visible = 0, inFlight = 0, delayed = 0 } = dead ?? {};
  return { ...live, deadLettered: visible + inFlight + delayed };
}

async function countsOf(sqs: SqsApi, name: string): Promise<Omit<QueueDepths, 'deadLettered'> | undefined> {
  const url = await queueUrlIfExists(sqs, name);
  if (url === undefined) return undefined;
  const counts = await queueAttributes(sqs, url, [
    'ApproximateNumberOfMessages',
    'ApproximateNumberOfMessagesNotVisible',
    'ApproximateNumberOfMessagesDelayed',
  ]);
  return {
    visible: Number(counts['ApproximateNumberOfMessages']),
    inFlight: Number(counts['ApproximateNumberOfMessagesNotVisible']),
    delayed: Number(counts['ApproximateNumberOfMessagesDelayed']),
  };
}
