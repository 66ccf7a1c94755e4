import type { QueueAttributeName } from '@aws-sdk/client-sqs';
import { defined } from '../../core/text/defined.ts';
import type { SqsApi } from './sqs-api.ts';

export type QueueAttributes = Readonly<Record<string, string>>;

/** An existing queue. */
export interface SqsQueue {
  readonly name: string;
  readonly url: string;
  readonly arn: string;
}

export interface RequestOptions {
  /** How long a request waits for its response. @default the client's socket timeout */
  readonly requestTimeoutMs?: number;
}

/** The queue's URL. Rejects if the queue does not exist. */
export async function queueUrl(
  sqs: SqsApi,
  name: string,
  { requestTimeoutMs }: RequestOptions = {},
): Promise<string> {
  const options = defined({ timeoutMs: requestTimeoutMs });
  const { QueueUrl = '' } = await sqs.call('GetQueueUrl', { QueueName: name }, options);
  return QueueUrl;
}

/** The queue's URL, or undefined if the queue does not exist. */
export async function queueUrlIfExists(
  sqs: SqsApi,
  name: string,
  options: RequestOptions = {},
): Promise<string | undefined> {
  try {
    return await queueUrl(sqs, name, options);
  } catch (error) {
    if (isQueueMissing(error)) return undefined;
    throw error;
  }
}

export async function queueAttributes(
  sqs: SqsApi,
  url: string,
  names: readonly string[],
  { requestTimeoutMs }: RequestOptions = {},
): Promise<QueueAttributes> {
  const request = { QueueUrl: url, AttributeNames: [...names] as QueueAttributeName[] };
  const options = defined({ timeoutMs: requestTimeoutMs });
  return (await sqs.call('GetQueueAttributes', request, options)).Attributes ?? {};
}

/** Rejects if the queue does not exist. */
export async function existingQueue(sqs: SqsApi, name: string): Promise<SqsQueue> {
  const url = await queueUrlIfExists(sqs, name);
  if (url === undefined) throw new Error(`the queue "${name}" does not exist`);
  const { QueueArn: arn = '' } = await queueAttributes(sqs, url, ['QueueArn']);
  return { name, url, arn };
}

/** The service uses a different error name for each of its protocols. */
export function isQueueMissing(error: unknown): boolean {
  const name = error instanceof Error ? error.name : '';
  return name === 'QueueDoesNotExist' || name === 'AWS.SimpleQueueService.NonExistentQueue';
}
