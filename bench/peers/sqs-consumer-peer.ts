import {
  type Message,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';

/**
 * sqs-consumer at its best settings: batches of ten, no pause between polls, the same parsing and routing. No long
 * polls on either side: the embedded engine goes on with one whose client left, and takes the next round's messages.
 */
export function consumerPeer(
  client: SQSClient,
  from: string,
  to: string,
  mode: 'single' | 'batch',
  count: number,
  onDone: () => void,
): { stop(): void } {
  let seen = 0;
  const shared = { queueUrl: from, sqs: client, batchSize: 10, waitTimeSeconds: 0, pollingWaitTimeMs: 0 };
  const consumer =
    mode === 'single'
      ? Consumer.create({
          ...shared,
          handleMessage: async (message) => {
            seen++;
            await client.send(new SendMessageCommand({ QueueUrl: to, MessageBody: routed(message) }));
            return message;
          },
        })
      : Consumer.create({
          ...shared,
          handleMessageBatch: async (messages) => {
            seen += messages.length;
            const Entries = messages.map((message, index) => ({
              Id: String(index),
              MessageBody: routed(message),
            }));
            await client.send(new SendMessageBatchCommand({ QueueUrl: to, Entries }));
            return messages;
          },
        });
  // Deleted by then too: that is when a hop is over here as well.
  consumer.on('response_processed', () => {
    if (seen >= count) onDone();
  });
  consumer.start();
  return { stop: () => consumer.stop({ abort: true }) };
}

function routed(message: Message): string {
  const envelope = JSON.parse(message.Body ?? '');
  const { prev, curr, next } = envelope.route;
  return JSON.stringify({
    ...envelope,
    route: { prev: [...prev, curr], curr: next[0] ?? '', next: next.slice(1) },
  });
}
