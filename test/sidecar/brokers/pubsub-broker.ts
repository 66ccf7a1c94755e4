import { setTimeout as sleep } from 'node:timers/promises';
import { PUBSUB_RECORD } from '../../../lib/adapters/pubsub/pubsub-features.ts';
import { MIN_RECEIVE_COUNT } from '../../../lib/config/plan/queue-plan.ts';
import { PROJECT } from '../../support/pubsub.ts';
import type { PubsubWithDelayer } from '../../support/pubsub-with-delayer.ts';
import type { SidecarBroker } from './sidecar-broker.ts';

/** Deliveries of an ended process are redelivered when their last lease expires. */
const MAX_LEASE_MS = 32_000;

export function pubsubBroker({ endpoint, client, close }: PubsubWithDelayer): SidecarBroker {
  const { publisher, subscriber } = client;
  const topicName = (queue: string) => `projects/${PROJECT}/topics/${queue}`;
  const subscriptionName = (queue: string) => `projects/${PROJECT}/subscriptions/${queue}`;

  async function takeMessages(queue: string) {
    const subscription = subscriptionName(queue);
    const [{ receivedMessages }] = await subscriber.pull({
      subscription,
      maxMessages: 1_000,
      returnImmediately: true,
    });
    const messages = receivedMessages ?? [];
    const ackIds = messages.map(({ ackId }) => ackId ?? '');
    if (ackIds.length > 0) await subscriber.acknowledge({ subscription, ackIds });
    return messages.map(({ message }) => message);
  }

  return {
    name: 'pubsub',
    variables: { ASYA_PUBSUB_PROJECT_ID: PROJECT, ASYA_PUBSUB_ENDPOINT: endpoint },
    delays: PUBSUB_RECORD.features.delays,
    anyBytes: 'yes',
    // The emulator does not report message counts.
    countsHidden: false,
    createQueue: async (queue) => {
      const dlq = `${queue}-dlq`;
      for (const name of [dlq, queue]) await publisher.createTopic(name);
      await subscriber.createSubscription({ name: subscriptionName(dlq), topic: topicName(dlq) });
      await subscriber.createSubscription({
        name: subscriptionName(queue),
        topic: topicName(queue),
        deadLetterPolicy: { deadLetterTopic: topicName(dlq), maxDeliveryAttempts: MIN_RECEIVE_COUNT },
      });
    },
    send: async (queue, body) => {
      await publisher.topic(queue).publishMessage({ data: Buffer.from(body) });
    },
    take: async (queue) =>
      (await takeMessages(queue)).map((message) => Buffer.from(message?.data ?? '').toString()),
    leftIn: async (queues) => {
      const left: Record<string, number> = Object.fromEntries(queues.map((queue) => [queue, 0]));
      for (const endsAt = Date.now() + MAX_LEASE_MS; Date.now() < endsAt; await sleep(1_000)) {
        for (const queue of queues) left[queue] = (left[queue] ?? 0) + (await takeMessages(queue)).length;
      }
      return left;
    },
    close,
  };
}
