import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type QueueAttributeName,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { defined } from '../../core/text/defined.ts';

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
  client: SQSClient,
  name: string,
  { requestTimeoutMs }: RequestOptions = {},
): Promise<string> {
  const options = defined({ requestTimeout: requestTimeoutMs });
  const { QueueUrl = '' } = await client.send(new GetQueueUrlCommand({ QueueName: name }), options);
  return QueueUrl;
}

/** The queue's URL, or undefined if the queue does not exist. */
export async function queueUrlIfExists(
  client: SQSClient,
  name: string,
  options: RequestOptions = {},
): Promise<string | undefined> {
  try {
    return await queueUrl(client, name, options);
  } catch (error) {
    if (isQueueMissing(error)) return undefined;
    throw error;
  }
}

export async function queueAttributes(
  client: SQSClient,
  url: string,
  names: readonly string[],
  { requestTimeoutMs }: RequestOptions = {},
): Promise<QueueAttributes> {
  const request = { QueueUrl: url, AttributeNames: [...names] as QueueAttributeName[] };
  const options = defined({ requestTimeout: requestTimeoutMs });
  return (await client.send(new GetQueueAttributesCommand(request), options)).Attributes ?? {};
}

/** Rejects if the queue does not exist. */
export async function existingQueue(client: SQSClient, name: string): Promise<SqsQueue> {
  const url = await queueUrlIfExists(client, name);
  if (url === undefined) throw new Error(`the queue "${name}" does not exist`);
  const { QueueArn: arn = '' } = await queueAttributes(client, url, ['QueueArn']);
  return { name, url, arn };
}

/** The service uses a different error name for each of its protocols. */
export function isQueueMissing(error: unknown): boolean {
  const name = error instanceof Error ? error.name : '';
  return name === 'QueueDoesNotExist' || name === 'AWS.SimpleQueueService.NonExistentQueue';
}
