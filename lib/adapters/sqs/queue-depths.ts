import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type QueueAttributeName,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { QueuePlan } from '../../config/plan/queue-plan.ts';
import { deadLetterQueueName } from '../../config/settings/queue-name.ts';
import { isQueueMissing } from './sqs-queues.ts';

/** A queue that is there. */
export interface LocalQueue {
  readonly name: string;
  readonly url: string;
  readonly arn: string;
}

export interface QueuePair {
  readonly queue: LocalQueue;
  readonly deadLetterQueue: LocalQueue;
  /** What had to be done for them to be as planned. */
  readonly change: 'created' | 'updated' | 'none';
}

export interface QueueDepths {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
  /** In its dead-letter queue, in whatever state. */
  readonly deadLettered: number;
}

type Attributes = Readonly<Record<string, string>>;
type Change = QueuePair['change'];

/** The queue with its dead-letter queue as the plan says: made where missing, changed where different. */
export async function ensureQueue(client: SQSClient, name: string, plan: QueuePlan): Promise<QueuePair> {
  const dead = await ensureOne(client, deadLetterQueueName(name, undefined), {
    VisibilityTimeout: String(plan.deadLetterVisibilitySeconds),
    MessageRetentionPeriod: String(plan.deadLetterRetentionSeconds),
  });
  const live = await ensureOne(client, name, {
    VisibilityTimeout: String(plan.visibilitySeconds),
    MessageRetentionPeriod: String(plan.retentionSeconds),
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: dead.queue.arn,
      maxReceiveCount: plan.maxReceiveCount,
    }),
  });
  const changes: readonly Change[] = [live.change, dead.change];
  const change = (['created', 'updated'] as const).find((one) => changes.includes(one)) ?? 'none';
  return { queue: live.queue, deadLetterQueue: dead.queue, change };
}

/**
 * Undefined where there is no such queue. The engine looks at its clocks when somebody receives: where nobody does,
 * what is due or visible again still counts as delayed or in flight.
 */
export async function queueDepths(client: SQSClient, name: string): Promise<QueueDepths | undefined> {
  const [live, dead] = await Promise.all([
    countsOf(client, name),
    countsOf(client, deadLetterQueueName(name, undefined)),
  ]);
  if (live === undefined) return undefined;
  const { visible = 0, inFlight = 0, delayed = 0 } = dead ?? {};
  return { ...live, deadLettered: visible + inFlight + delayed };
}

async function ensureOne(
  client: SQSClient,
  name: string,
  planned: Attributes,
): Promise<{ queue: LocalQueue; change: Change }> {
  const known = await urlOf(client, name);
  const url = known ?? (await create(client, name, planned));
  const { QueueArn: arn = '', ...attributes } = await attributesOf(client, url, ['All']);
  const queue = { name, url, arn };
  if (known === undefined) return { queue, change: 'created' };
  const differing = Object.entries(planned).filter(([key, value]) => attributes[key] !== value);
  if (differing.length === 0) return { queue, change: 'none' };
  await client.send(
    new SetQueueAttributesCommand({ QueueUrl: url, Attributes: Object.fromEntries(differing) }),
  );
  return { queue, change: 'updated' };
}

async function create(client: SQSClient, name: string, attributes: Attributes): Promise<string> {
  const { QueueUrl = '' } = await client.send(
    new CreateQueueCommand({ QueueName: name, Attributes: { ...attributes } }),
  );
  return QueueUrl;
}

async function urlOf(client: SQSClient, name: string): Promise<string | undefined> {
  try {
    return (await client.send(new GetQueueUrlCommand({ QueueName: name }))).QueueUrl;
  } catch (error) {
    if (isQueueMissing(error)) return undefined;
    throw error;
  }
}

async function attributesOf(
  client: SQSClient,
  url: string,
  names: readonly QueueAttributeName[],
): Promise<Attributes> {
  const asked = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...names] });
  return (await client.send(asked)).Attributes ?? {};
}

async function countsOf(
  client: SQSClient,
  name: string,
): Promise<Omit<QueueDepths, 'deadLettered'> | undefined> {
  const url = await urlOf(client, name);
  if (url === undefined) return undefined;
  const counts = await attributesOf(client, url, [
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

/** A queue that has to be there. */
export async function localQueue(client: SQSClient, name: string): Promise<LocalQueue> {
  const url = await urlOf(client, name);
  if (url === undefined) throw new Error(`there is no queue "${name}"`);
  const { QueueArn: arn = '' } = await attributesOf(client, url, ['QueueArn']);
  return { name, url, arn };
}
