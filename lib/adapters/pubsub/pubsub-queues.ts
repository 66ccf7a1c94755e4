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
  /** Whether what is sent there is kept for anybody: a topic without a subscription drops it, and says nothing. */
  checkSubscribed(queue: string): Promise<Reply>;
  /** Forgets what is known of a queue that proved wrong. */
  forget(queue: string): void;
  check(queue: string): Promise<Reply>;
  /** Creates the queue with its dead-letter queue. An existing one stays as it is; what differs is reported. */
  ensure(queue: string): Promise<EnsuredQueue>;
  /** What waits for others to be sent along leaves now. */
  flush(): void;
}

/** As little waiting as makes batches of what ends together. */
const BATCHING = { maxMessages: PUBSUB_MAX_BATCH, maxBytes: 9_000_000, maxMilliseconds: 4 };
/** For so long a topic is taken to have the subscription that it had. */
const HEARD_FOR_MS = 60_000;
/** What a subscription says whose topic is gone: it never gets another. */
const NO_TOPIC = '_deleted-topic_';

export function pubsubQueues(client: PubsubClient, plan: QueuePlan): PubsubQueues {
  const { projectId, publisher, subscriber } = client;
  const topics = new Map<string, Topic>();
  const heard = new Map<string, { readonly untilMs: number; readonly reply: Promise<Reply> }>();
  const subscriptionOf = (queue: string) => `projects/${projectId}/subscriptions/${queue}`;

  function topicOf(queue: string): Topic {
    const known = topics.get(queue);
    if (known !== undefined) return known;
    const topic = publisher.topic(queue, { batching: BATCHING, gaxOpts: CALL });
    topics.set(queue, topic);
    return topic;
  }

  async function askWhoHears(queue: string): Promise<Reply> {
    try {
      const page = { pageSize: 1, autoPaginate: false, gaxOpts: CALL };
      const [subscriptions] = await topicOf(queue).getSubscriptions(page);
      if (subscriptions.length > 0) return ACCEPTED;
      return missingQueue(queue, ': its topic has no subscription, and would drop what is sent to it');
    } catch (error) {
      if (!isPermissionDenied(error)) return refusalOf(error, queue);
      const problem = `it cannot be seen whether the topic "${queue}" has a subscription, without which it drops what is sent to it; grant roles/pubsub.viewer`;
      return { ok: false, problem };
    }
  }

  function hear(queue: string): Promise<Reply> {
    const known = heard.get(queue);
    if (known !== undefined && performance.now() < known.untilMs) return known.reply;
    const reply = askWhoHears(queue);
    const asked = { untilMs: performance.now() + HEARD_FOR_MS, reply };
    heard.set(queue, asked);
    reply.then(({ ok }) => {
      if (!ok && heard.get(queue) === asked) forget(queue);
    });
    return reply;
  }

  /** The topic too: routes may name any number of queues that are not there. */
  function forget(queue: string): void {
    heard.delete(queue);
    topics.delete(queue);
  }

  async function stateOf(queue: string): Promise<ExistingSubscription | 'missing' | 'without-topic'> {
    try {
      const [found] = await subscriber.getSubscription({ subscription: subscriptionOf(queue) }, CALL);
      return found.topic === NO_TOPIC ? 'without-topic' : found;
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

  /** Both, each unless it is there. */
  async function make(
    queue: string,
    deadlineSeconds: number,
    retentionSeconds: number,
    deadLetterQueue?: string,
  ): Promise<void> {
    await unlessThere(topicOf(queue).create(CALL));
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
      // One that nobody asks for a month would be deleted otherwise, and its topic drop what is sent.
      expirationPolicy: {},
      ...deadLetterPolicy,
    };
    await unlessThere(subscriber.createSubscription(subscription, CALL));
    heard.delete(queue);
  }

  return {
    topicOf,
    subscriptionOf,
    checkSubscribed: hear,
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
          // Somebody may have deleted it, and what should be dead-lettered would be delivered for ever.
          if (state.deadLetterPolicy != null && (await stateOf(deadLetterQueue)) === 'missing')
            await make(deadLetterQueue, plan.deadLetterVisibilitySeconds, plan.deadLetterRetentionSeconds);
          return ensured(differencesOf(state, topicOf(deadLetterQueue).name));
        }
        // Not for us to delete: it may still hold messages.
        if (state === 'without-topic') return { ok: false, problem: `queue "${queue}": ${WITHOUT_TOPIC}` };
        await make(deadLetterQueue, plan.deadLetterVisibilitySeconds, plan.deadLetterRetentionSeconds);
        await make(queue, plan.visibilitySeconds, plan.retentionSeconds, deadLetterQueue);
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
  "its subscription's topic was deleted, and a subscription never gets another; delete the subscription once it is drained";

async function unlessThere(making: Promise<unknown>): Promise<void> {
  try {
    await making;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** What is compared of a subscription that exists. */
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
