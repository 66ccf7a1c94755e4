import type { Topic } from '@google-cloud/pubsub';
import type { QueuePlan } from '../../config/plan/queue-plan.ts';
import { ACCEPTED, type Reply } from '../../ports/reply.ts';
import { type EnsuredQueue, ensured } from '../../ports/transport.ts';
import { CALL, type PubsubClient } from './pubsub-client.ts';
import {
  MAX_DEADLINE_SECONDS,
  MAX_RETENTION_SECONDS,
  MIN_DEADLINE_SECONDS,
  MIN_DELIVERY_ATTEMPTS,
  PUBSUB_MAX_BATCH,
} from './pubsub-limits.ts';
import { isAlreadyExists, isNotFound, isPermissionDenied, missingQueue, refusalOf } from './refusal.ts';

/** A queue is a topic and a subscription of the same name. */
export interface PubsubQueues {
  topicOf(queue: string): Topic;
  subscriptionOf(queue: string): string;
  /** Refused if the topic has no subscription: Pub/Sub would drop messages without an error. Cached for a while. */
  checkSubscribed(queue: string): Promise<Reply>;
  /** Drops the queue from the cache, because a request failed. */
  forget(queue: string): void;
  /** Checks that the subscription exists and has its topic. */
  check(queue: string): Promise<Reply>;
  /** Creates the queue with its dead-letter queue. An existing queue stays as it is; differences are reported. */
  ensure(queue: string): Promise<EnsuredQueue>;
  /** Publishes messages that wait in a batch. */
  flush(): void;
}

/** Waits only long enough to batch sends that are made together. */
const BATCHING = { maxMessages: PUBSUB_MAX_BATCH, maxBytes: 9_000_000, maxMilliseconds: 4 };
/** How long a topic is assumed to still have a subscription. */
const RECHECK_AFTER_MS = 60_000;
/** The topic name of a subscription whose topic was deleted. */
const DELETED_TOPIC = '_deleted-topic_';

export function pubsubQueues(client: PubsubClient, plan: QueuePlan): PubsubQueues {
  const { projectId, publisher, subscriber } = client;
  const topics = new Map<string, Topic>();
  const subscribed = new Map<string, { readonly untilMs: number; readonly reply: Promise<Reply> }>();
  const subscriptionOf = (queue: string) => `projects/${projectId}/subscriptions/${queue}`;

  function topicOf(queue: string): Topic {
    const known = topics.get(queue);
    if (known !== undefined) return known;
    const topic = publisher.topic(queue, { batching: BATCHING, gaxOpts: CALL });
    topics.set(queue, topic);
    return topic;
  }

  async function checkSubscriptions(queue: string): Promise<Reply> {
    try {
      const page = { pageSize: 1, autoPaginate: false, gaxOpts: CALL };
      const [subscriptions] = await topicOf(queue).getSubscriptions(page);
      if (subscriptions.length > 0) return ACCEPTED;
      return missingQueue(queue, ': its topic has no subscription, so Pub/Sub would drop the message');
    } catch (error) {
      if (!isPermissionDenied(error)) return refusalOf(error, queue);
      const problem = `cannot check whether the topic "${queue}" has a subscription, without which Pub/Sub drops messages; grant roles/pubsub.viewer`;
      return { ok: false, problem };
    }
  }

  function checkSubscribed(queue: string): Promise<Reply> {
    const known = subscribed.get(queue);
    if (known !== undefined && performance.now() < known.untilMs) return known.reply;
    const reply = checkSubscriptions(queue);
    const entry = { untilMs: performance.now() + RECHECK_AFTER_MS, reply };
    subscribed.set(queue, entry);
    reply.then(({ ok }) => {
      if (!ok && subscribed.get(queue) === entry) forget(queue);
    });
    return reply;
  }

  /** Also drops the topic, so that routes to many missing queues do not fill the memory. */
  function forget(queue: string): void {
    subscribed.delete(queue);
    topics.delete(queue);
  }

  async function stateOf(queue: string): Promise<ExistingSubscription | 'missing' | 'without-topic'> {
    try {
      const [found] = await subscriber.getSubscription({ subscription: subscriptionOf(queue) }, CALL);
      return found.topic === DELETED_TOPIC ? 'without-topic' : found;
    } catch (error) {
      if (isNotFound(error)) return 'missing';
      throw error;
    }
  }

  function differencesOf(found: ExistingSubscription, deadLetterTopic: string): readonly string[] {
    const seconds = Number(found.messageRetentionDuration?.seconds ?? 0);
    const { deadLetterTopic: topic, maxDeliveryAttempts: attempts } = found.deadLetterPolicy ?? {};
    return [
      ['deadLetterTopic', topic, deadLetterTopic],
      ['ackDeadlineSeconds', found.ackDeadlineSeconds, deadlineWithin(plan.visibilitySeconds)],
      ['messageRetentionDuration', seconds, retentionWithin(plan.retentionSeconds)],
      ['maxDeliveryAttempts', attempts, maxDeliveryAttempts(plan)],
    ]
      .filter(([, is, expected]) => is !== expected)
      .map(([name, is, expected]) => `${name} is ${is ?? 'not set'}, expected ${expected}`);
  }

  /** Creates the topic and the subscription, each unless it exists. */
  async function create(
    queue: string,
    deadlineSeconds: number,
    retentionSeconds: number,
    deadLetterQueue?: string,
  ): Promise<void> {
    await unlessExists(topicOf(queue).create(CALL));
    const deadLetterPolicy =
      deadLetterQueue === undefined
        ? {}
        : {
            deadLetterPolicy: {
              deadLetterTopic: topicOf(deadLetterQueue).name,
              maxDeliveryAttempts: maxDeliveryAttempts(plan),
            },
          };
    const subscription = {
      name: subscriptionOf(queue),
      topic: topicOf(queue).name,
      ackDeadlineSeconds: deadlineWithin(deadlineSeconds),
      messageRetentionDuration: { seconds: retentionWithin(retentionSeconds) },
      // By default a subscription without a consumer is deleted after a month, and its topic then drops messages.
      expirationPolicy: {},
      ...deadLetterPolicy,
    };
    await unlessExists(subscriber.createSubscription(subscription, CALL));
    subscribed.delete(queue);
  }

  return {
    topicOf,
    subscriptionOf,
    checkSubscribed,
    forget,
    check: async (queue) => {
      try {
        const state = await stateOf(queue);
        if (typeof state === 'object') return ACCEPTED;
        return missingQueue(queue, state === 'missing' ? '' : `: ${WITHOUT_TOPIC}`);
      } catch (error) {
        return refusalOf(error, queue);
      }
    },
    ensure: async (queue) => {
      const deadLetterQueue = `${queue}-dlq`;
      try {
        const state = await stateOf(queue);
        if (typeof state === 'object') {
          // The dead-letter queue may have been deleted. Messages would then be delivered again forever.
          if (state.deadLetterPolicy != null && (await stateOf(deadLetterQueue)) === 'missing')
            await create(deadLetterQueue, plan.deadLetterVisibilitySeconds, plan.deadLetterRetentionSeconds);
          return ensured(differencesOf(state, topicOf(deadLetterQueue).name));
        }
        // Do not delete it: it may still hold messages.
        if (state === 'without-topic') return { ok: false, problem: `queue "${queue}": ${WITHOUT_TOPIC}` };
        await create(deadLetterQueue, plan.deadLetterVisibilitySeconds, plan.deadLetterRetentionSeconds);
        await create(queue, plan.visibilitySeconds, plan.retentionSeconds, deadLetterQueue);
        return ACCEPTED;
      } catch (error) {
        return refusalOf(error, queue);
      }
    },
    flush: () => {
      for (const topic of topics.values()) topic.flush();
    },
  };
}

const WITHOUT_TOPIC =
  "its subscription's topic was deleted, and a subscription cannot be moved to another topic; drain the subscription, then delete it";

async function unlessExists(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** The fields of an existing subscription that are compared with the plan. */
interface ExistingSubscription {
  readonly topic?: string | null;
  readonly ackDeadlineSeconds?: number | null;
  readonly messageRetentionDuration?: { readonly seconds?: unknown } | null;
  readonly deadLetterPolicy?: {
    readonly deadLetterTopic?: string | null;
    readonly maxDeliveryAttempts?: number | null;
  } | null;
}

function maxDeliveryAttempts({ maxReceiveCount }: QueuePlan): number {
  return Math.max(maxReceiveCount, MIN_DELIVERY_ATTEMPTS);
}

function retentionWithin(seconds: number): number {
  return Math.min(seconds, MAX_RETENTION_SECONDS);
}

function deadlineWithin(seconds: number): number {
  return Math.min(Math.max(Math.ceil(seconds), MIN_DEADLINE_SECONDS), MAX_DEADLINE_SECONDS);
}
