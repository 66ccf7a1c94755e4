import {
  CreateQueueCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { MIN_RECEIVE_COUNT, queuePlan } from '../../../lib/config/plan/queue-plan.ts';
import { startFaultyProxy } from '../../adapters/sqs/faulty-proxy.ts';
import type { QueueDescription, TestBroker } from '../contract-subject.ts';

export interface SqsEngine {
  readonly endpoint: string;
  readonly account: string;
  close(): Promise<void>;
}

/** Modules that make the transport with the client of the AWS SDK, or with the slim one. */
const MAKERS = { sdk: 'make-sqs-transport.ts', slim: 'make-slim-sqs-transport.ts' } as const;

/** Any engine with the SQS API, and a proxy that simulates failures. */
export async function sqsTestBroker(
  engine: SqsEngine,
  sqsClient: keyof typeof MAKERS = 'sdk',
): Promise<TestBroker> {
  const proxy = await startFaultyProxy(engine.endpoint);
  const client = new SQSClient({
    endpoint: engine.endpoint,
    region: 'us-east-1',
    useQueueUrlAsEndpoint: false,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const arnOf = (queue: string) => `arn:aws:sqs:us-east-1:${engine.account}:${queue}`;
  const urlOf = async (queue: string) =>
    (await client.send(new GetQueueUrlCommand({ QueueName: queue }))).QueueUrl ?? '';
  const create = async (queue: string, Attributes: Record<string, string> = {}) => {
    await client.send(new CreateQueueCommand({ QueueName: queue, Attributes }));
  };

  async function describeQueue(queue: string): Promise<QueueDescription> {
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: await urlOf(queue), AttributeNames: ['All'] }),
    );
    const redrive = JSON.parse(Attributes.RedrivePolicy ?? '{}') as Record<string, string | number>;
    return {
      visibilitySeconds: Number(Attributes.VisibilityTimeout),
      retentionSeconds: Number(Attributes.MessageRetentionPeriod),
      ...(redrive['deadLetterTargetArn'] !== undefined && {
        deadLetterTarget: redrive['deadLetterTargetArn'],
        // A number or a string, depending on the engine.
        maxReceiveCount: Number(redrive['maxReceiveCount']),
      }),
    };
  }

  const module = new URL(MAKERS[sqsClient], import.meta.url).href;
  const { account } = engine;
  return {
    maker: { module, options: { endpoint: engine.endpoint, account } },
    breakableMaker: { module, options: { endpoint: proxy.endpoint, account } },
    maxReceiveCount: MIN_RECEIVE_COUNT,
    createQueue: async (queue) => {
      await create(`${queue}-dlq`);
      const policy = { deadLetterTargetArn: arnOf(`${queue}-dlq`), maxReceiveCount: MIN_RECEIVE_COUNT };
      await create(queue, { RedrivePolicy: JSON.stringify(policy) });
    },
    createPlainQueue: (queue) => create(queue),
    deleteQueue: async (queue) => {
      await client.send(new DeleteQueueCommand({ QueueUrl: await urlOf(queue) }));
    },
    describeQueue,
    plannedQueues: (queue, visibilityMs) => {
      const plan = queuePlan(visibilityMs / 1000);
      const deadLetterQueue = `${queue}-dlq`;
      return {
        [queue]: {
          visibilitySeconds: plan.visibilitySeconds,
          retentionSeconds: plan.retentionSeconds,
          deadLetterTarget: arnOf(deadLetterQueue),
          maxReceiveCount: plan.maxReceiveCount,
        },
        [deadLetterQueue]: {
          // The visibility timeout of the crew: x-dlq reads this queue.
          visibilitySeconds: 70,
          retentionSeconds: plan.deadLetterRetentionSeconds,
        },
      };
    },
    failEntries: (isChosen) =>
      proxy.inject(({ action, input }) =>
        action === 'SendMessageBatch' && input.Entries?.some(({ MessageBody = '' }) => isChosen(MessageBody))
          ? { kind: 'fail-entries', isChosen: ({ MessageBody = '' }) => isChosen(MessageBody) }
          : undefined,
      ),
    beginOutage: () => proxy.inject(() => ({ kind: 'drop' })),
    close: async () => {
      client.destroy();
      await proxy.close();
      await engine.close();
    },
  };
}
