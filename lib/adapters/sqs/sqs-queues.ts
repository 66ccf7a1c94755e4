import type { SQSClient } from '@aws-sdk/client-sqs';
import type { QueuePlan } from '../../config/plan/queue-plan.ts';
import { ensureQueue } from './ensure-queue.ts';
import { queueUrl } from './queue-attributes.ts';

/** Queue URLs by name, looked up once. */
export interface SqsQueues {
  /** The URL, from the cache or from SQS. Rejects if the queue does not exist. */
  urlOf(queue: string): Promise<string>;
  /** Asks SQS, without the cache. Rejects if the queue does not exist. */
  check(queue: string): Promise<void>;
  /** Removes a URL that proved wrong from the cache. */
  forget(queue: string): void;
  /** Creates the queue with its dead-letter queue. An existing queue stays as it is. Resolves with what differs from the plan. */
  ensure(queue: string): Promise<readonly string[]>;
}

export function sqsQueues(client: SQSClient, plan: QueuePlan, requestTimeoutMs: number): SqsQueues {
  const urls = new Map<string, Promise<string>>();

  function urlOf(queue: string): Promise<string> {
    const known = urls.get(queue);
    if (known !== undefined) return known;
    const url = queueUrl(client, queue, { requestTimeoutMs });
    urls.set(queue, url);
    url.catch(() => urls.delete(queue));
    return url;
  }

  return {
    urlOf,
    check: async (queue) => {
      urls.delete(queue);
      await urlOf(queue);
    },
    forget: (queue) => urls.delete(queue),
    ensure: async (queue) => {
      urls.delete(queue);
      const { url, differences } = await ensureQueue(client, queue, plan, {
        onDifference: 'report',
        requestTimeoutMs,
      });
      urls.set(queue, Promise.resolve(url));
      return differences;
    },
  };
}
