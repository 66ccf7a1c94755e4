import type { QueuePlan } from '../../config/plan/queue-plan.ts';
import { deadLetterQueueName } from '../../config/settings/queue-name.ts';
import {
  type QueueAttributes,
  queueAttributes,
  queueUrl,
  queueUrlIfExists,
  type RequestOptions,
  type SqsQueue,
} from './queue-attributes.ts';
import type { SqsApi } from './sqs-api.ts';

export interface EnsureQueueOptions extends RequestOptions {
  /**
   * What to do with an existing queue whose attributes differ from the plan. `report` leaves the queue and its
   * dead-letter queue as they are. `update` sets the attributes of both to the planned ones.
   */
  readonly onDifference: 'report' | 'update';
}

export interface EnsuredQueuePair {
  readonly url: string;
  /** What was done to either queue. */
  readonly change: 'created' | 'updated' | 'none';
  /** How the existing queue differed from the plan, such as `VisibilityTimeout is 30, expected 600`. */
  readonly differences: readonly string[];
}

/** Creates the queue and its dead-letter queue according to the plan, if they do not exist. */
export async function ensureQueue(
  sqs: SqsApi,
  name: string,
  plan: QueuePlan,
  options: EnsureQueueOptions,
): Promise<EnsuredQueuePair> {
  const url = await queueUrlIfExists(sqs, name, options);
  if (url !== undefined && options.onDifference === 'report') {
    const differences = await compareQueue(sqs, { name, url }, plan, options);
    return { url, change: 'none', differences };
  }
  const deadLetterQueue = deadLetterQueueName(name);
  const dead = await ensureAttributes(sqs, deadLetterQueue, deadLetterAttributes(plan), options);
  const redrivePolicy = { deadLetterTargetArn: dead.arn, maxReceiveCount: plan.maxReceiveCount };
  const planned = { ...liveAttributes(plan), RedrivePolicy: JSON.stringify(redrivePolicy) };
  if (url === undefined) {
    const created = await createQueue(sqs, name, planned, options);
    return { url: created, change: 'created', differences: [] };
  }
  const found = await queueAttributes(sqs, url, Object.keys(planned), options);
  const differences = differencesFrom(found, plan, dead.arn);
  await update(sqs, url, differences, planned);
  const isUpdated = differences.length > 0 || dead.change === 'updated';
  const change = dead.change === 'created' ? 'created' : isUpdated ? 'updated' : 'none';
  return { url, change, differences: differences.map(({ text }) => text) };
}

/** Resolves with how an existing queue differs from the plan. */
async function compareQueue(
  sqs: SqsApi,
  { name, url }: Pick<SqsQueue, 'name' | 'url'>,
  plan: QueuePlan,
  options: RequestOptions,
): Promise<readonly string[]> {
  const names = [...Object.keys(liveAttributes(plan)), 'RedrivePolicy'];
  const found = await queueAttributes(sqs, url, names, options);
  const deadLetterQueue = deadLetterQueueName(name);
  // The dead-letter queue may have been deleted. Messages would then stay in the queue instead of being dead-lettered.
  const isTarget = found['RedrivePolicy']?.includes(`:${deadLetterQueue}"`);
  if (isTarget && (await queueUrlIfExists(sqs, deadLetterQueue, options)) === undefined)
    await createQueue(sqs, deadLetterQueue, deadLetterAttributes(plan), options);
  return differencesFrom(found, plan).map(({ text }) => text);
}

function liveAttributes(plan: QueuePlan): QueueAttributes {
  return {
    VisibilityTimeout: String(plan.visibilitySeconds),
    MessageRetentionPeriod: String(plan.retentionSeconds),
  };
}

function deadLetterAttributes(plan: QueuePlan): QueueAttributes {
  return {
    VisibilityTimeout: String(plan.deadLetterVisibilitySeconds),
    MessageRetentionPeriod: String(plan.deadLetterRetentionSeconds),
  };
}

/** Creates a queue, or updates its attributes if that is the option. */
async function ensureAttributes(
  sqs: SqsApi,
  name: string,
  planned: QueueAttributes,
  options: EnsureQueueOptions,
): Promise<SqsQueue & Pick<EnsuredQueuePair, 'change'>> {
  const knownUrl = await queueUrlIfExists(sqs, name, options);
  const url = knownUrl ?? (await createQueue(sqs, name, planned, options));
  const names = ['QueueArn', ...Object.keys(planned)];
  const { QueueArn: arn = '', ...found } = await queueAttributes(sqs, url, names, options);
  if (knownUrl === undefined) return { name, url, arn, change: 'created' };
  const differences = options.onDifference === 'update' ? differencesOf(found, planned) : [];
  await update(sqs, url, differences, planned);
  return { name, url, arn, change: differences.length > 0 ? 'updated' : 'none' };
}

async function createQueue(
  sqs: SqsApi,
  name: string,
  attributes: QueueAttributes,
  options: RequestOptions,
): Promise<string> {
  try {
    const { QueueUrl = '' } = await sqs.call('CreateQueue', {
      QueueName: name,
      Attributes: { ...attributes },
    });
    return QueueUrl;
  } catch (error) {
    // Another process created it in the meantime, with different attributes.
    if (isNameTaken(error)) return queueUrl(sqs, name, options);
    throw error;
  }
}

async function update(
  sqs: SqsApi,
  url: string,
  differences: readonly Difference[],
  planned: QueueAttributes,
): Promise<void> {
  if (differences.length === 0) return;
  const names = differences.map(({ attribute }) => attribute);
  const attributes = Object.fromEntries(Object.entries(planned).filter(([name]) => names.includes(name)));
  await sqs.call('SetQueueAttributes', { QueueUrl: url, Attributes: attributes });
}

interface Difference {
  readonly attribute: string;
  readonly text: string;
}

function differencesOf(found: QueueAttributes, planned: QueueAttributes): readonly Difference[] {
  return Object.entries(planned)
    .filter(([attribute, value]) => found[attribute] !== value)
    .map(([attribute, value]) => ({
      attribute,
      text: `${attribute} is ${found[attribute] ?? 'not set'}, expected ${value}`,
    }));
}

function differencesFrom(
  found: QueueAttributes,
  plan: QueuePlan,
  deadLetterTargetArn?: string,
): readonly Difference[] {
  return [
    ...differencesOf(found, liveAttributes(plan)),
    ...redriveDifferences(found, plan, deadLetterTargetArn),
  ];
}

/** Without an expected target, any dead-letter queue is fine. SQS returns the count as a number or as text. */
function redriveDifferences(
  { RedrivePolicy: policy }: QueueAttributes,
  { maxReceiveCount }: QueuePlan,
  expectedTarget?: string,
): readonly Difference[] {
  const difference = (text: string) => [{ attribute: 'RedrivePolicy', text }];
  if (policy === undefined) return difference('RedrivePolicy is not set, expected a dead-letter queue');
  const { maxReceiveCount: count, deadLetterTargetArn: target } = JSON.parse(policy) as {
    readonly maxReceiveCount?: number | string;
    readonly deadLetterTargetArn?: string;
  };
  if (expectedTarget !== undefined && target !== expectedTarget)
    return difference(`deadLetterTargetArn is ${target}, expected ${expectedTarget}`);
  return Number(count) === maxReceiveCount
    ? []
    : difference(`maxReceiveCount is ${count}, expected ${maxReceiveCount}`);
}

function isNameTaken(error: unknown): boolean {
  const name = error instanceof Error ? error.name : '';
  return /(^|\.)(QueueNameExists|QueueAlreadyExists)$/.test(name);
}
