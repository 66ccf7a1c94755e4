import { setTimeout as pause } from 'node:timers/promises';
import type { PubsubEmulator } from '../../lib/local/engines/pubsub-emulator.ts';
import { PROJECT } from './pubsub.ts';

/** Pub/Sub by its plain HTTP interface: whoever looks from outside shares nothing with what is looked at. */
export interface PubsubRest {
  readonly url: string;
  topic(name: string): Promise<void>;
  /** Of the topic of the same name unless another is said. */
  subscription(name: string, settings?: SubscriptionSettings): Promise<void>;
  /** Gives the message's id. */
  publish(topic: string, data: string, attributes?: Readonly<Record<string, string>>): Promise<string>;
  /** The next message for which it holds; whatever else comes is kept for later. */
  next(subscription: string, isIt?: (message: Pulled) => boolean, withinMs?: number): Promise<Pulled>;
  /** All that is there now and was not asked for. */
  rest(subscription: string): Promise<readonly Pulled[]>;
}

interface SubscriptionSettings {
  readonly topic?: string;
  readonly pushTo?: string;
  readonly deadLetterTopic?: string;
}

interface Pulled {
  readonly data: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly messageId: string;
  readonly publishMs: number;
}

const FEWEST_ATTEMPTS = 5;

export function pubsubRest({ endpoint }: PubsubEmulator): PubsubRest {
  const url = `http://${endpoint}`;
  const kept = new Map<string, Pulled[]>();
  const topicName = (name: string) => `projects/${PROJECT}/topics/${name}`;

  async function call(method: string, path: string, body: unknown): Promise<Record<string, unknown>> {
    const response = await fetch(`${url}/v1/projects/${PROJECT}/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }

  async function empty(subscription: string): Promise<Pulled[]> {
    const letters = kept.get(subscription) ?? [];
    kept.set(subscription, letters);
    const path = `subscriptions/${subscription}`;
    const answer = await call('POST', `${path}:pull`, { maxMessages: 100, returnImmediately: true });
    const received = (answer['receivedMessages'] ?? []) as readonly {
      readonly ackId: string;
      readonly message: {
        data?: string;
        attributes?: Record<string, string>;
        messageId: string;
        publishTime: string;
      };
    }[];
    if (received.length === 0) return letters;
    await call('POST', `${path}:acknowledge`, { ackIds: received.map(({ ackId }) => ackId) });
    for (const { message } of received)
      letters.push({
        data: Buffer.from(message.data ?? '', 'base64').toString(),
        attributes: message.attributes ?? {},
        messageId: message.messageId,
        publishMs: Date.parse(message.publishTime),
      });
    return letters;
  }

  return {
    url,
    topic: async (name) => void (await call('PUT', `topics/${name}`, {})),
    subscription: async (name, { topic = name, pushTo, deadLetterTopic } = {}) => {
      await call('PUT', `subscriptions/${name}`, {
        topic: topicName(topic),
        ackDeadlineSeconds: 600,
        ...(pushTo !== undefined && { pushConfig: { pushEndpoint: pushTo } }),
        ...(deadLetterTopic !== undefined && {
          deadLetterPolicy: {
            deadLetterTopic: topicName(deadLetterTopic),
            maxDeliveryAttempts: FEWEST_ATTEMPTS,
          },
        }),
      });
    },
    publish: async (topic, data, attributes = {}) => {
      const messages = [{ data: Buffer.from(data).toString('base64'), attributes }];
      const { messageIds } = await call('POST', `topics/${topic}:publish`, { messages });
      return (messageIds as string[])[0] ?? '';
    },
    next: async (subscription, isIt = () => true, withinMs = 60_000) => {
      const endsAt = Date.now() + withinMs;
      for (;;) {
        const letters = await empty(subscription);
        const at = letters.findIndex(isIt);
        const [found] = at < 0 ? [] : letters.splice(at, 1);
        if (found !== undefined) return found;
        if (Date.now() > endsAt) {
          const others = letters.map(
            ({ data, attributes }) => `${data.slice(0, 200)} ${JSON.stringify(attributes)}`,
          );
          throw new Error(
            `nothing of that kind in ${subscription} within ${withinMs} ms; there: ${others.join(', ')}`,
          );
        }
        await pause(50);
      }
    },
    rest: async (subscription) => [...(await empty(subscription))],
  };
}
