import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { defined } from '../../lib/core/text/defined.ts';

/** An SQS on a free port of 127.0.0.1. */
export interface EmbeddedSqs {
  readonly endpoint: string;
  readonly client: SQSClient;
  /** Creates the queue with its dead-letter queue, and returns its URL. */
  createQueue(name: string, attributes?: Readonly<Record<string, string>>): Promise<string>;
  send(queue: string, body: string, delaySeconds?: number): Promise<void>;
  /** Receives up to ten messages without deleting them, like a consumer that crashes. */
  receive(queue: string): Promise<readonly Message[]>;
  /** Receives up to ten messages and deletes them. */
  take(queue: string): Promise<readonly Message[]>;
  /** Takes messages until there are `count`. Rejects after `withinMs`. */
  takeUntil(queue: string, count: number, withinMs?: number): Promise<readonly Message[]>;
  counts(queue: string): Promise<{ visible: number; hidden: number; delayed: number }>;
  /** When the visibility timeout of each message in flight ends. */
  hiddenUntil(queue: string): Promise<readonly number[]>;
  /** Ends the visibility timeout of all messages in flight. */
  expireVisibility(queue: string): Promise<void>;
  close(): Promise<void>;
}

const ACCOUNT = '000000000000';

interface InFlightMessage {
  readonly receiptHandle: string;
  readonly visibilityDeadline: number;
}

/** Starts an SQS in this process. */
export async function startEmbeddedSqs(
  options: { dataDir?: string; port?: number } = {},
): Promise<EmbeddedSqs> {
  const app = buildApp({
    logger: false,
    ...defined({ dataDir: options.dataDir }),
  });
  const sqs = sqsAt(await app.listen({ host: '127.0.0.1', port: options.port ?? 0 }));
  return {
    ...sqs,
    close: async () => {
      await sqs.close();
      await app.close();
    },
  };
}

/** The same interface for an engine that is already running. `close` does not stop the engine. */
export function sqsAt(endpoint: string): EmbeddedSqs {
  const client = new SQSClient({
    endpoint,
    region: 'us-east-1',
    useQueueUrlAsEndpoint: false,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const urlOf = (queue: string) => `${endpoint}/${ACCOUNT}/${queue}`;

  async function receive(queue: string): Promise<readonly Message[]> {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: urlOf(queue), MaxNumberOfMessages: 10, AttributeNames: ['All'] }),
    );
    return Messages;
  }

  async function take(queue: string): Promise<readonly Message[]> {
    const Messages = await receive(queue);
    if (Messages.length > 0) {
      const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      await client.send(new DeleteMessageBatchCommand({ QueueUrl: urlOf(queue), Entries }));
    }
    return Messages;
  }

  /** From an endpoint of the engine; SQS itself has no such operation. */
  async function inFlight(queue: string): Promise<readonly InFlightMessage[]> {
    const response = await fetch(`${endpoint}/_fauxqs/queues/${queue}`);
    const { messages } = (await response.json()) as { messages: { inflight: readonly InFlightMessage[] } };
    return messages.inflight;
  }

  return {
    endpoint,
    client,
    createQueue: async (name, attributes = {}) => {
      await client.send(new CreateQueueCommand({ QueueName: `${name}-dlq` }));
      const RedrivePolicy = JSON.stringify({
        deadLetterTargetArn: `arn:aws:sqs:us-east-1:${ACCOUNT}:${name}-dlq`,
        maxReceiveCount: 5,
      });
      await client.send(
        new CreateQueueCommand({ QueueName: name, Attributes: { RedrivePolicy, ...attributes } }),
      );
      return urlOf(name);
    },
    send: async (queue, body, delaySeconds = 0) => {
      await client.send(
        new SendMessageCommand({ QueueUrl: urlOf(queue), MessageBody: body, DelaySeconds: delaySeconds }),
      );
    },
    receive,
    take,
    takeUntil: async (queue, count, withinMs = 60_000) => {
      const taken: Message[] = [];
      const until = Date.now() + withinMs;
      while (taken.length < count) {
        const some = await take(queue);
        taken.push(...some);
        if (some.length > 0 || taken.length >= count) continue;
        if (Date.now() > until)
          throw new Error(`${queue}: ${taken.length} of ${count} messages within ${withinMs} ms`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return taken;
    },
    counts: async (queue) => {
      const { Attributes = {} } = await client.send(
        new GetQueueAttributesCommand({ QueueUrl: urlOf(queue), AttributeNames: ['All'] }),
      );
      return {
        visible: Number(Attributes['ApproximateNumberOfMessages']),
        hidden: Number(Attributes['ApproximateNumberOfMessagesNotVisible']),
        delayed: Number(Attributes['ApproximateNumberOfMessagesDelayed']),
      };
    },
    hiddenUntil: async (queue) => (await inFlight(queue)).map(({ visibilityDeadline }) => visibilityDeadline),
    expireVisibility: async (queue) => {
      for (const { receiptHandle: ReceiptHandle } of await inFlight(queue)) {
        const change = { QueueUrl: urlOf(queue), ReceiptHandle, VisibilityTimeout: 0 };
        await client.send(new ChangeMessageVisibilityCommand(change));
      }
    },
    close: async () => {
      client.destroy();
    },
  };
}
