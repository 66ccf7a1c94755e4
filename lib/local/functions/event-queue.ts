import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SqsQueue } from '../../adapters/sqs/queue-attributes.ts';

/** The operations of an event source on a queue. All reject if the queue does not respond. */
export interface EventQueue {
  readonly name: string;
  readonly arn: string;
  /** Receives at most ten messages. They are hidden for the queue's visibility timeout. A receive cannot be aborted. */
  receive(max: number, waitSeconds: number): Promise<readonly Message[]>;
  /** Deletes processed messages. */
  remove(messages: readonly Message[]): Promise<void>;
  /** Hides messages for this time from now on. Messages that were deleted in the meantime are ignored. */
  hide(messages: readonly Message[], seconds: number): Promise<void>;
  /** Makes messages visible again immediately. */
  release(messages: readonly Message[]): Promise<void>;
}

const MAX_ENTRIES = 10;

export function sqsEventQueue(client: SQSClient, { name, arn, url }: SqsQueue): EventQueue {
  return {
    name,
    arn,
    receive: async (max, waitSeconds) => {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: url,
          MaxNumberOfMessages: Math.min(max, MAX_ENTRIES),
          WaitTimeSeconds: waitSeconds,
          MessageSystemAttributeNames: ['All'],
          MessageAttributeNames: ['All'],
        }),
      );
      return Messages;
    },
    remove: (messages) =>
      inTens(messages, async (chunk) => {
        const Entries = chunk.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
        const { Failed } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
        throwIfFailed(Failed);
      }),
    hide: async (messages, seconds) => {
      await inTens(messages, (chunk) => changeVisibility(chunk, seconds));
    },
    release: (messages) =>
      inTens(messages, async (chunk) => {
        throwIfFailed(await changeVisibility(chunk, 0));
      }),
  };

  /** Returns the entries that SQS rejected. */
  async function changeVisibility(messages: readonly Message[], VisibilityTimeout: number) {
    const Entries = messages.map(({ ReceiptHandle }, index) => ({
      Id: String(index),
      ReceiptHandle,
      VisibilityTimeout,
    }));
    const { Failed } = await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
    return Failed;
  }
}

async function inTens(
  messages: readonly Message[],
  act: (chunk: readonly Message[]) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < messages.length; from += MAX_ENTRIES)
    await act(messages.slice(from, from + MAX_ENTRIES));
}

function throwIfFailed(failed: readonly { readonly Code?: string | undefined }[] = []): void {
  if (failed.length > 0)
    throw new Error(`SQS rejected ${failed.length} entries; the first error is ${failed[0]?.Code}`);
}
