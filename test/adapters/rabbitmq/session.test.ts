import { EventEmitter } from 'node:events';
import type { Channel, ConsumeMessage } from 'amqplib';
import { expect, it } from 'vitest';
import { openSession } from '../../../lib/adapters/rabbitmq/session.ts';

/**
 * A broker that is asked after a queue just as that is deleted may close the channel for the question while we close it
 * for the deletion, and answer neither. No real one does so when told to: this channel plays it.
 */
function aSilentChannel() {
  let push: (message: ConsumeMessage | null) => void = () => {};
  const channel = Object.assign(new EventEmitter(), {
    prefetch: async () => {},
    consume: async (_queue: string, onMessage: typeof push) => {
      push = onMessage;
      return { consumerTag: 'c-1' };
    },
    ack: () => {},
    nack: () => {},
    checkQueue: () => new Promise<never>(() => {}),
    close: () => new Promise<never>(() => {}),
  });
  return { channel: channel as unknown as Channel, push: (message: ConsumeMessage | null) => push(message) };
}

it('a settling is over with the session, also where the broker never answers', async () => {
  const { channel, push } = aSilentChannel();
  const connection = { channel: async () => channel } as Parameters<typeof openSession>[0];
  const session = await openSession(connection, 'score', 3);
  push({ fields: { deliveryTag: 1, consumerTag: 'c-1' } } as ConsumeMessage);
  const [message] = session.take(1);
  if (message === undefined) throw new Error('nothing came');
  const settlings = [
    session.settle(message, { kind: 'ack' }),
    session.settle(message, { kind: 'release', pauseMs: 0 }),
    session.settle(message, { kind: 'keep' }),
  ];
  push(null);
  for (const settling of settlings)
    await expect(settling).rejects.toThrow('the broker canceled the consumer');
});
