import { pubsubClient } from '../../../lib/adapters/pubsub/pubsub-client.ts';
import { PUBSUB_RECORD } from '../../../lib/adapters/pubsub/pubsub-features.ts';
import { MIN_RECEIVE_COUNT } from '../../../lib/config/plan/queue-plan.ts';
import { DEFAULT_DELAYER_TOPIC } from '../../../lib/core/pipeline/delayer.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { startGrpcProxy } from '../../support/grpc-proxy.ts';
import { PROJECT, PUBSUB_ABSENCE } from '../../support/pubsub.ts';
import { startPubsubWithDelayer } from '../../support/pubsub-with-delayer.ts';
import type { ContractSubject, QueueDescription, TestBroker } from '../contract-subject.ts';

/** Google's Pub/Sub emulator with the delayer, if it is installed. */
export const PUBSUB: ContractSubject = {
  name: 'pubsub (emulator)',
  ...defined({ unavailable: PUBSUB_ABSENCE }),
  features: {
    ...PUBSUB_RECORD.features,
    rawAstralCharacters: 'yes',
    describesQueues: 'yes',
    failsSingleSends: { no: 'Pub/Sub accepts or rejects a publish request as a whole' },
    outages: 'yes',
    deepQueues: 'yes',
  },
  start: async () => {
    const { endpoint, close } = await startPubsubWithDelayer();
    return pubsubTestBroker(endpoint, close);
  },
};

const DAY_SECONDS = 86_400;

async function pubsubTestBroker(endpoint: string, close: () => Promise<void>): Promise<TestBroker> {
  const proxy = await startGrpcProxy(endpoint);
  const client = await pubsubClient({ projectId: PROJECT, endpoint });
  const { publisher, subscriber } = client;
  const topicName = (queue: string) => `projects/${PROJECT}/topics/${queue}`;
  const subscriptionName = (queue: string) => `projects/${PROJECT}/subscriptions/${queue}`;

  async function create(queue: string, deadLetterQueue?: string): Promise<void> {
    await publisher.topic(queue).create();
    const policy =
      deadLetterQueue === undefined
        ? {}
        : {
            deadLetterPolicy: {
              deadLetterTopic: topicName(deadLetterQueue),
              maxDeliveryAttempts: MIN_RECEIVE_COUNT,
            },
          };
    await subscriber.createSubscription({
      name: subscriptionName(queue),
      topic: topicName(queue),
      ...policy,
    });
  }

  async function describeQueue(queue: string): Promise<QueueDescription> {
    const [{ topic, ackDeadlineSeconds, messageRetentionDuration, expirationPolicy, deadLetterPolicy }] =
      await subscriber.getSubscription({ subscription: subscriptionName(queue) });
    return {
      topic: topic ?? '',
      visibilitySeconds: ackDeadlineSeconds ?? 0,
      retentionSeconds: Number(messageRetentionDuration?.seconds),
      expires: expirationPolicy?.ttl ? 'yes' : 'never',
      ...(deadLetterPolicy
        ? {
            deadLetterTarget: deadLetterPolicy.deadLetterTopic ?? '',
            maxReceiveCount: deadLetterPolicy.maxDeliveryAttempts ?? 0,
          }
        : {}),
    };
  }

  const module = new URL('make-pubsub-transport.ts', import.meta.url).href;
  const options = { projectId: PROJECT, delayerTopic: DEFAULT_DELAYER_TOPIC };
  return {
    maker: { module, options: { ...options, endpoint } },
    breakableMaker: { module, options: { ...options, endpoint: proxy.endpoint } },
    maxReceiveCount: MIN_RECEIVE_COUNT,
    createQueue: async (queue) => {
      // Some laws create the same queue twice; then its dead-letter queue exists already.
      await create(`${queue}-dlq`).catch(() => {});
      await create(queue, `${queue}-dlq`);
    },
    createPlainQueue: (queue) => create(queue),
    deleteQueue: async (queue) => {
      await publisher.topic(queue).delete();
      await subscriber.deleteSubscription({ subscription: subscriptionName(queue) });
    },
    describeQueue,
    plannedQueues: (queue, visibilityMs) => ({
      [queue]: {
        topic: topicName(queue),
        visibilitySeconds: visibilityMs / 1000,
        retentionSeconds: 4 * DAY_SECONDS,
        expires: 'never',
        deadLetterTarget: topicName(`${queue}-dlq`),
        maxReceiveCount: MIN_RECEIVE_COUNT,
      },
      [`${queue}-dlq`]: {
        topic: topicName(`${queue}-dlq`),
        visibilitySeconds: 70,
        retentionSeconds: 7 * DAY_SECONDS,
        expires: 'never',
      },
    }),
    failEntries: () => {
      throw new Error('not supported, according to the features');
    },
    beginOutage: () => proxy.cut(),
    close: async () => {
      await client.close();
      await proxy.close();
      await close();
    },
  };
}
