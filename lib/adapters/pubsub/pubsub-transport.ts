import { type Batcher, batcher } from '../../async/batcher.ts';
import { inFlight } from '../../async/in-flight.ts';
import { queuePlan } from '../../config/plan/queue-plan.ts';
import { delayAttributes, MAX_DELAYED_BYTES } from '../../core/pipeline/delayer.ts';
import type { Refusal, Reply } from '../../ports/reply.ts';
import type { Delivery, Transport } from '../../ports/transport.ts';
import { type Consumer, queueConsumer } from './consumer.ts';
import { type Lease, leases } from './leases.ts';
import { CALL, type PubsubClient } from './pubsub-client.ts';
import { MAX_DEADLINE_SECONDS, MIN_DEADLINE_SECONDS, PUBSUB_LIMITS } from './pubsub-limits.ts';
import { pubsubQueues } from './pubsub-queues.ts';
import { openPullStream } from './pull-stream.ts';
import { isNotFound, refusalOf, replyOf } from './refusal.ts';

export interface PubsubTransportOptions {
  readonly client: PubsubClient;
  readonly visibilityMs: number;
  /** The delayer's topic, to which delayed messages are sent. */
  readonly delayerTopic: string;
  /** How long a receive waits for messages. @default 20,000 */
  readonly waitMs?: number;
}

const WAIT_MS = 20_000;
const MAX_BATCH = 100;
/** A request may have 512 KB, and an ack id has less than 200 bytes. */
const MAX_ACK_IDS = 2_000;

/** Pub/Sub: a queue is a topic and a subscription of the same name. Messages arrive over a stream and are settled in batches. */
export function pubsubTransport(options: PubsubTransportOptions): Transport {
  const { client, visibilityMs, delayerTopic, waitMs = WAIT_MS } = options;
  const { subscriber } = client;
  const queues = pubsubQueues(client, queuePlan(visibilityMs / 1000));
  const consumers = new Map<string, Consumer & { readonly leases: ReturnType<typeof leases> }>();
  const batchers = new Map<string, Batcher<string, Reply>>();
  const sending = inFlight();

  /** One batcher per queue and operation. */
  function batched(
    operation: string,
    queue: string,
    request: (ackIds: string[], subscription: string) => Promise<unknown>,
  ): Batcher<string, Reply> {
    const key = `${operation} ${queue}`;
    const known = batchers.get(key);
    if (known !== undefined) return known;
    const made = batcher<string, Reply>({
      maxItems: MAX_ACK_IDS,
      run: async (ackIds) => {
        const reply = await replyOf(request([...ackIds], queues.subscriptionOf(queue)), queue);
        return ackIds.map(() => reply);
      },
    });
    batchers.set(key, made);
    return made;
  }

  function setDeadline(queue: string, ackId: string, seconds: number): Promise<Reply> {
    const deadlines = batched(`deadline ${seconds}`, queue, (ackIds, subscription) =>
      subscriber.modifyAckDeadline({ subscription, ackIds, ackDeadlineSeconds: seconds }, CALL),
    );
    return deadlines.add(ackId);
  }

  function consumerOf(queue: string) {
    const known = consumers.get(queue);
    if (known !== undefined) return known;
    const held = leases({
      visibilityMs,
      minFirstMs: MIN_DEADLINE_SECONDS * 1000,
      setDeadline: (ackId, seconds) => setDeadline(queue, ackId, seconds),
    });
    const { receive, close } = queueConsumer({
      queue,
      leases: held,
      waitMs,
      open: (window, onMessages, onEnd) =>
        openPullStream({
          subscriber,
          subscription: queues.subscriptionOf(queue),
          window,
          deadlineSeconds: held.firstSeconds,
          onMessages,
          onEnd,
        }),
    });
    const made = { receive, close, leases: held };
    consumers.set(queue, made);
    return made;
  }

  async function publish(
    queue: string,
    data: Buffer,
    attributes: Readonly<Record<string, string>>,
  ): Promise<Reply> {
    try {
      await queues.topicOf(queue).publishMessage({ data, attributes });
      return { ok: true };
    } catch (error) {
      if (isNotFound(error)) queues.forget(queue);
      return refusalOf(error, queue);
    }
  }

  async function send(queue: string, body: string): Promise<Reply> {
    const data = Buffer.from(body);
    if (data.length > PUBSUB_LIMITS.maxBodyBytes)
      return tooLarge(data, PUBSUB_LIMITS.maxBodyBytes, 'Pub/Sub');
    const subscribed = await queues.checkSubscribed(queue);
    return subscribed.ok ? publish(queue, data, {}) : subscribed;
  }

  async function sendWithDelay(queue: string, body: string, delayMs: number): Promise<Reply> {
    if (delayMs <= 0) return send(queue, body);
    const data = Buffer.from(body);
    if (data.length > MAX_DELAYED_BYTES) return tooLarge(data, MAX_DELAYED_BYTES, 'the delayer');
    const subscribed = await queues.checkSubscribed(queue);
    if (!subscribed.ok) return subscribed;
    const delayer = await queues.checkSubscribed(delayerTopic);
    if (!delayer.ok) return delayerRefusal(delayer);
    const reply = await publish(delayerTopic, data, delayAttributes(queue, delayMs));
    return reply.ok ? reply : delayerRefusal(reply);
  }

  return {
    traits: {
      name: 'pubsub',
      ...PUBSUB_LIMITS,
      maxBatch: MAX_BATCH,
      visibilityMs,
      countsReceives: true,
    },
    receive: (queue, maxDeliveries, signal) => consumerOf(queue).receive(maxDeliveries, signal),
    send: (queue, body) => sending.track(send(queue, body)),
    sendWithDelay: (queue, body, delayMs) => sending.track(sendWithDelay(queue, body, delayMs)),
    ack: (delivery) => {
      const lease = leaseOf(delivery);
      consumerOf(delivery.queue).leases.end(lease);
      const acks = batched('ack', delivery.queue, (ackIds, subscription) =>
        subscriber.acknowledge({ subscription, ackIds }, CALL),
      );
      return acks.add(lease.ackId);
    },
    nack: (delivery, pauseMs) => {
      const seconds = Math.min(Math.ceil(pauseMs / 1000), MAX_DEADLINE_SECONDS);
      return consumerOf(delivery.queue).leases.release(leaseOf(delivery), seconds);
    },
    extend: (delivery) => consumerOf(delivery.queue).leases.extend(leaseOf(delivery)),
    ensureQueue: (queue) => queues.ensure(queue),
    checkQueue: (queue) => queues.check(queue),
    close: async () => {
      const all = [...consumers.values()];
      await Promise.all(all.map((one) => one.close()));
      for (const one of all) one.leases.stop();
      queues.flush();
      await sending.settled();
      await Promise.all([...batchers.values()].map((one) => one.drain()));
      await client.close();
    },
  };
}

function leaseOf({ handle }: Delivery): Lease {
  return handle as Lease;
}

function tooLarge(data: Buffer, maxBytes: number, receiver: string): Refusal {
  return {
    ok: false,
    problem: `the message has ${data.length} bytes; ${receiver} accepts at most ${maxBytes}`,
  };
}

/** Without `isQueueMissing`: the queue exists, only the delayer is not available. */
function delayerRefusal({ problem }: Refusal): Refusal {
  return { ok: false, problem: `the delayer is not available: ${problem}` };
}
