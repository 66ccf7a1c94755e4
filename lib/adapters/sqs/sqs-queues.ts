import type { QueuePlan } from '../../config/plan/queue-plan.ts';
import { ensureQueue } from './ensure-queue.ts';
import { queueUrl } from './queue-attributes.ts';
import type { SqsApi } from './sqs-api.ts';

/** Queue URLs by name, built or looked up once. */
export interface SqsQueues {
  /** The URL: built, from the cache, or from SQS. Rejects if SQS is asked and the queue does not exist. */
  urlOf(queue: string): Promise<string>;
  /** Asks SQS, without the cache. Rejects if the queue does not exist. */
  check(queue: string): Promise<void>;
  /** Removes a URL that proved wrong from the cache. */
  forget(queue: string): void;
  /** Creates the queue with its dead-letter queue. An existing queue stays as it is. Resolves with what differs from the plan. */
  ensure(queue: string): Promise<readonly string[]>;
}

/** @param build The URL of a queue, if it can be built from its name. Then sends need no request for it. */
export function sqsQueues(
  sqs: SqsApi,
  plan: QueuePlan,
  requestTimeoutMs: number,
  build?: (queue: string) => string,
): SqsQueues {
  const urls = new Map<string, Promise<string>>();

  function lookUp(queue: string): Promise<string> {
    const known = urls.get(queue);
    if (known !== undefined) return known;
    const url = queueUrl(sqs, queue, { requestTimeoutMs });
    urls.set(queue, url);
    url.catch(() => urls.delete(queue));
    return url;
  }

  return {
    urlOf: build === undefined ? lookUp : async (queue) => build(queue),
    check: async (queue) => {
      urls.delete(queue);
      await lookUp(queue);
    },
    forget: (queue) => urls.delete(queue),
    ensure: async (queue) => {
      urls.delete(queue);
      const { url, differences } = await ensureQueue(sqs, queue, plan, {
        onDifference: 'report',
        requestTimeoutMs,
      });
      urls.set(queue, Promise.resolve(url));
      return differences;
    },
  };
}
