import { EventEmitter } from 'node:events';
import type { Channel, ConsumeMessage } from 'amqplib';
import { expect, it } from 'vitest';
import { openSession } from '../../../lib/adapters/rabbitmq/session.ts';

/**
 * If a queue is deleted while it is checked, the broker may close the channel because of the check while the session closes
 * it because of the deletion, and then answers neither. A real broker cannot be made to do that, so this channel simulates
 * it.
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

it('rejects pending settlements when the session ends, even if the broker never answers', async () => {
  const { channel, push } = aSilentChannel();
  const connection = { channel: async () => channel } as Parameters<typeof openSession>[0];
  const session = await openSession(connection, 'score', 3);
  push({ fields: { deliveryTag: 1, consumerTag: 'c-1' } } as ConsumeMessage);
  const [message] = session.take(1);
  if (message === undefined) throw new Error('no message was taken');
  const settlements = [
    session.settle(message, { kind: 'ack' }),
    session.settle(message, { kind: 'release', pauseMs: 0 }),
    session.settle(message, { kind: 'keep' }),
  ];
  push(null);
  for (const settlement of settlements)
    await expect(settlement).rejects.toThrow('the broker canceled the consumer');
});
