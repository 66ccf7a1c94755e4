import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type QueueAttributeName,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { QueuePlan } from '../../config/plan/queue-plan.ts';

/** Queues by name: their addresses, looked up once, and made where they are missing. */
export interface SqsQueues {
  /** Rejects where the queue is not there. */
  urlOf(queue: string): Promise<string>;
  /** Asks the service, whatever is known here; rejects where the queue is not there. */
  look(queue: string): Promise<void>;
  /** Forgets an address that proved wrong. */
  forget(queue: string): void;
  /** Creates the queue with its dead-letter queue. Resolves with what differs if the queue exists, and leaves it alone. */
  ensure(queue: string): Promise<readonly string[]>;
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
    try {
      await client.send(new CreateQueueCommand({ QueueName: queue, Attributes: attributes }));
    } catch (error) {
      // Another sidecar was faster, with attributes of its own: the queue is there.
      if (!isNameTaken(error)) throw error;
    }
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

  async function attributesOf(queue: string, ...names: QueueAttributeName[]): Promise<Attributes> {
    const asked = new GetQueueAttributesCommand({ QueueUrl: await urlOf(queue), AttributeNames: names });
    return (await client.send(asked, { requestTimeout: answerWithinMs })).Attributes ?? {};
  }

  async function ensureDeadLetterQueue(queue: string): Promise<string> {
    const deadLetterQueue = `${queue}-dlq`;
    if (!(await isThere(deadLetterQueue))) {
      await create(deadLetterQueue, {
        VisibilityTimeout: String(plan.deadLetterVisibilitySeconds),
        MessageRetentionPeriod: String(plan.deadLetterRetentionSeconds),
      });
    }
    return deadLetterQueue;
  }

  const attributes = {
    VisibilityTimeout: String(plan.visibilitySeconds),
    MessageRetentionPeriod: String(plan.retentionSeconds),
  };

  return {
    urlOf,
    look,
    forget: (queue) => urls.delete(queue),
    ensure: async (queue) => {
      if (await isThere(queue)) {
        const found = await attributesOf(
          queue,
          'VisibilityTimeout',
          'MessageRetentionPeriod',
          'RedrivePolicy',
        );
        // Somebody may have deleted it, and the queue would keep what should be dead-lettered.
        if (found['RedrivePolicy']?.includes(`:${queue}-dlq"`)) await ensureDeadLetterQueue(queue);
        return differencesOf(found, attributes, plan);
      }
      const deadLetterQueue = await ensureDeadLetterQueue(queue);
      const { QueueArn } = await attributesOf(deadLetterQueue, 'QueueArn');
      await create(queue, {
        ...attributes,
        RedrivePolicy: JSON.stringify({
          deadLetterTargetArn: QueueArn,
          maxReceiveCount: plan.maxReceiveCount,
        }),
      });
      return [];
    },
  };
}

type Attributes = Readonly<Record<string, string>>;

function differencesOf(
  found: Attributes,
  planned: Attributes,
  { maxReceiveCount }: QueuePlan,
): readonly string[] {
  const plain = Object.entries(planned)
    .filter(([name, text]) => found[name] !== text)
    .map(([name, text]) => `${name} is ${found[name] ?? 'not set'}, expected ${text}`);
  return [...plain, ...redriveDifferences(found['RedrivePolicy'], maxReceiveCount)];
}

/** The service reports the count as a number or as text, depending on who set it. */
function redriveDifferences(policy: string | undefined, maxReceiveCount: number): readonly string[] {
  if (policy === undefined) return ['RedrivePolicy is not set, expected a dead-letter queue'];
  const { maxReceiveCount: count } = JSON.parse(policy) as { readonly maxReceiveCount?: number | string };
  return Number(count) === maxReceiveCount
    ? []
    : [`maxReceiveCount is ${count}, expected ${maxReceiveCount}`];
}

function isNameTaken(error: unknown): boolean {
  const name = error instanceof Error ? error.name : '';
  return /(^|\.)(QueueNameExists|QueueAlreadyExists)$/.test(name);
}

/** The service says it in two ways, by protocol. */
export function isQueueMissing(error: unknown): boolean {
  const name = error instanceof Error ? error.name : '';
  return name === 'QueueDoesNotExist' || name === 'AWS.SimpleQueueService.NonExistentQueue';
}
