import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { type EnsuredQueuePair, ensureQueue } from '../../lib/adapters/sqs/ensure-queue.ts';
import { existingQueue, type SqsQueue } from '../../lib/adapters/sqs/queue-attributes.ts';
import { sdkSqs } from '../../lib/adapters/sqs/sdk-sqs.ts';
import { sqsClient } from '../../lib/adapters/sqs/sqs-client.ts';
import type { QueuePlan } from '../../lib/config/plan/queue-plan.ts';
import { deadLetterQueueName } from '../../lib/config/settings/queue-name.ts';
import {
  type Engines,
  type EnginesOptions,
  LOCAL_REGION,
  startEngines,
} from '../../lib/local/engines/engines.ts';

/** Engines with a client for each, for one test file. */
export interface TestEngines {
  readonly engines: Engines;
  readonly sqs: SQSClient;
  readonly s3: S3Client;
  readonly dynamodb: DynamoDBClient;
  send(queueUrl: string, ...bodies: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export async function startTestEngines(options: EnginesOptions = {}): Promise<TestEngines> {
  const start = await startEngines(options);
  if ('problem' in start) throw new Error(start.problem);
  const { engines } = start;
  const clients = clientsOf(engines);
  return {
    engines,
    ...clients,
    send: async (QueueUrl, ...bodies) => {
      const Entries = bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody }));
      await clients.sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    },
    close: async () => {
      for (const client of Object.values(clients)) client.destroy();
      await engines.close();
    },
  };
}

export function clientsOf(engines: Omit<Engines, 'close'>): Pick<TestEngines, 'sqs' | 's3' | 'dynamodb'> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const common = { region: LOCAL_REGION, credentials };
  return {
    sqs: sqsClient({ endpoint: engines.sqsEndpoint, region: LOCAL_REGION }, {}),
    s3: new S3Client({ ...common, endpoint: engines.s3Endpoint, forcePathStyle: true }),
    dynamodb: new DynamoDBClient({ ...common, endpoint: engines.dynamodbEndpoint }),
  };
}

export interface QueuePair extends Pick<EnsuredQueuePair, 'change'> {
  readonly queue: SqsQueue;
  readonly deadLetterQueue: SqsQueue;
}

/** Creates or updates a queue and its dead-letter queue, as the local mesh does. */
export async function ensurePair(client: SQSClient, name: string, plan: QueuePlan): Promise<QueuePair> {
  const { change } = await ensureQueue(sdkSqs(client), name, plan, { onDifference: 'update' });
  return {
    change,
    queue: await existingQueue(sdkSqs(client), name),
    deadLetterQueue: await existingQueue(sdkSqs(client), deadLetterQueueName(name)),
  };
}
