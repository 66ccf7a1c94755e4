import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { SqsQueue } from '../../adapters/sqs/queue-attributes.ts';

/** What an event source needs of a queue. All reject where the queue does not answer. */
export interface EventQueue {
  readonly name: string;
  readonly arn: string;
  /** At most ten; hidden from others for as long as the queue says. Never cut off: it ends by itself. */
  receive(max: number, waitSeconds: number): Promise<readonly Message[]>;
  /** Done with: they never come again. */
  remove(messages: readonly Message[]): Promise<void>;
  /** Not worked on: they are visible at once. */
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
      inTens(messages, async (some) => {
        const Entries = some.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
        const { Failed } = await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
        refuseFailed(Failed);
      }),
    release: (messages) =>
      inTens(messages, async (some) => {
        const Entries = some.map(({ ReceiptHandle }, index) => ({
          Id: String(index),
          ReceiptHandle,
          VisibilityTimeout: 0,
        }));
        const { Failed } = await client.send(
          new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }),
        );
        refuseFailed(Failed);
      }),
  };
}

async function inTens(
  messages: readonly Message[],
  act: (some: readonly Message[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < messages.length; from += MAX_ENTRIES)
    await act(messages.slice(from, from + MAX_ENTRIES));
}

function refuseFailed(failed: readonly { readonly Code?: string | undefined }[] = []): void {
  if (failed.length > 0)
    throw new Error(`${failed.length} entries were refused, the first: ${failed[0]?.Code}`);
}
