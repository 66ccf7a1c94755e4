import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { QueuePlan } from '../../config/queue-plan.ts';

/** Queues by name: their addresses, looked up once, and made where they are missing. */
export interface SqsQueues {
  /** Rejects where the queue is not there. */
  urlOf(queue: string): Promise<string>;
  /** Asks the service, whatever is known here; rejects where the queue is not there. */
  look(queue: string): Promise<void>;
  /** Forgets an address that proved wrong. */
  forget(queue: string): void;
  /** Makes the queue with its dead-letter queue; what is there already stays as it is. */
  ensure(queue: string): Promise<void>;
}

export function sqsQueues(client: SQSClient, plan: QueuePlan, answerWithinMs: number): SqsQueues {
  const urls = new Map<string, Promise<string>>();

  function urlOf(queue: string): Promise<string> {
    const known = urls.get(queue);
    if (known !== undefined) return known;
    const url = client
      .send(new GetQueueUrlCommand({ QueueName: queue }), { requestTimeout: answerWithinMs })
      .then(({ QueueUrl }) => QueueUrl ?? '');
    urls.set(queue, url);
    url.catch(() => urls.delete(queue));
    return url;
  }

  async function create(queue: string, attributes: Record<string, string>): Promise<void> {
    await client.send(new CreateQueueCommand({ QueueName: queue, Attributes: attributes }));
    urls.delete(queue);
  }

  /** Asks the service, whatever is known here. */
  async function look(queue: string): Promise<void> {
    urls.delete(queue);
    await urlOf(queue);
  }

  async function isThere(queue: string): Promise<boolean> {
    try {
      await look(queue);
      return true;
    } catch (error) {
      if (isQueueMissing(error)) return false;
      throw error;
    }
  }

  return {
    urlOf,
    look,
    forget: (queue) => urls.delete(queue),
    ensure: async (queue) => {
      if (await isThere(queue)) return;
      const deadLetterQueue = `${queue}-dlq`;
      if (!(await isThere(deadLetterQueue))) {
        await create(deadLetterQueue, {
          VisibilityTimeout: String(plan.deadLetterVisibilitySeconds),
          MessageRetentionPeriod: String(plan.deadLetterRetentionSeconds),
        });
      }
      const { Attributes } = await client.send(
        new GetQueueAttributesCommand({
          QueueUrl: await urlOf(deadLetterQueue),
          AttributeNames: ['QueueArn'],
        }),
      );
      await create(queue, {
        VisibilityTimeout: String(plan.visibilitySeconds),
        MessageRetentionPeriod: String(plan.retentionSeconds),
        RedrivePolicy: JSON.stringify({
          deadLetterTargetArn: Attributes?.QueueArn,
          maxReceiveCount: plan.maxReceiveCount,
        }),
      });
    },
  };
}

/** The service says it in two ways, by protocol. */
export function isQueueMissing(error: unknown): boolean {
  const name = error instanceof Error ? error.name : '';
  return name === 'QueueDoesNotExist' || name === 'AWS.SimpleQueueService.NonExistentQueue';
}
