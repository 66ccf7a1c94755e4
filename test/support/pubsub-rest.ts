import { setTimeout as pause } from 'node:timers/promises';
import type { PubsubEmulator } from '../../lib/local/engines/pubsub-emulator.ts';
import { PROJECT } from './pubsub.ts';

/** Pub/Sub through its REST API, so that tests share no code with the transport. */
export interface PubsubRest {
  readonly url: string;
  topic(name: string): Promise<void>;
  /** Creates a subscription; by default, of the topic with the same name. */
  subscription(name: string, settings?: SubscriptionSettings): Promise<void>;
  /** Returns the message's id. */
  publish(topic: string, data: string, attributes?: Readonly<Record<string, string>>): Promise<string>;
  /** Waits for the next message that matches. Other messages stay available for later calls. */
  next(subscription: string, matches?: (message: Pulled) => boolean, withinMs?: number): Promise<Pulled>;
  /** All messages that are available now and were not returned by `next`. */
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

const MIN_ATTEMPTS = 5;

export function pubsubRest({ endpoint }: PubsubEmulator): PubsubRest {
  const url = `http://${endpoint}`;
  const pulled = new Map<string, Pulled[]>();
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

  async function pullAll(subscription: string): Promise<Pulled[]> {
    const messages = pulled.get(subscription) ?? [];
    pulled.set(subscription, messages);
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
    if (received.length === 0) return messages;
    await call('POST', `${path}:acknowledge`, { ackIds: received.map(({ ackId }) => ackId) });
    for (const { message } of received)
      messages.push({
        data: Buffer.from(message.data ?? '', 'base64').toString(),
        attributes: message.attributes ?? {},
        messageId: message.messageId,
        publishMs: Date.parse(message.publishTime),
      });
    return messages;
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
            maxDeliveryAttempts: MIN_ATTEMPTS,
          },
        }),
      });
    },
    publish: async (topic, data, attributes = {}) => {
      const messages = [{ data: Buffer.from(data).toString('base64'), attributes }];
      const { messageIds } = await call('POST', `topics/${topic}:publish`, { messages });
      return (messageIds as string[])[0] ?? '';
    },
    next: async (subscription, matches = () => true, withinMs = 60_000) => {
      const endsAt = Date.now() + withinMs;
      for (;;) {
        const messages = await pullAll(subscription);
        const at = messages.findIndex(matches);
        const [found] = at < 0 ? [] : messages.splice(at, 1);
        if (found !== undefined) return found;
        if (Date.now() > endsAt) {
          const others = messages.map(
            ({ data, attributes }) => `${data.slice(0, 200)} ${JSON.stringify(attributes)}`,
          );
          throw new Error(
            `no matching message in ${subscription} within ${withinMs} ms; others: ${others.join(', ')}`,
          );
        }
        await pause(50);
      }
    },
    rest: async (subscription) => [...(await pullAll(subscription))],
  };
}
