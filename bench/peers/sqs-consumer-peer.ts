import {
  type Message,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';

/** sqs-consumer at its best settings: batches of ten, no pause between polls, the same parsing and routing. */
export function consumerPeer(
  client: SQSClient,
  from: string,
  to: string,
  mode: 'single' | 'batch',
  count: number,
  onDone: () => void,
): { stop(): void } {
  const shared = { queueUrl: from, sqs: client, batchSize: 10, waitTimeSeconds: 1, pollingWaitTimeMs: 0 };
  const consumer =
    mode === 'single'
      ? Consumer.create({
          ...shared,
          handleMessage: async (message) => {
            await client.send(new SendMessageCommand({ QueueUrl: to, MessageBody: routed(message) }));
            return message;
          },
        })
      : Consumer.create({
          ...shared,
          handleMessageBatch: async (messages) => {
            const Entries = messages.map((message, index) => ({
              Id: String(index),
              MessageBody: routed(message),
            }));
            await client.send(new SendMessageBatchCommand({ QueueUrl: to, Entries }));
            return messages;
          },
        });
  let seen = 0;
  // Deleted when the whole of a received batch was: that is when a hop is over here too.
  consumer.on('message_received', () => {
    seen++;
  });
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
