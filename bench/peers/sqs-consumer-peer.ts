import {
  type Message,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { Consumer } from 'sqs-consumer';

/**
 * sqs-consumer with its fastest settings: batches of ten, no pause between polls, the same parsing and routing. Neither
 * side uses long polling: the embedded engine continues a poll after its client disconnects, and the poll would receive
 * messages of the next round.
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
  // A hop ends when the message is deleted, as in the sidecar.
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
