import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { deadLetterQueueName } from '../../../lib/config/settings/queue-name.ts';
import type { Transport } from '../../../lib/ports/transport.ts';
import {
  CLOCK_SLACK_MS,
  deliveriesOf,
  HIDDEN_MS,
  type Law,
  OK,
  receiveNothing,
  receiveNothingMore,
  receiveOne,
  receiveSome,
  sendAll,
  textOf,
} from '../law.ts';

export const DELIVERY_LAWS: readonly Law[] = [
  {
    name: 'delivers an accepted send',
    run: async ({ queue, transport }) => {
      const one = await transport();
      expect(await one.send(queue, '{"n":1}')).toEqual(OK);
      const delivery = await receiveOne(one, queue);
      expect(textOf(delivery)).toBe('{"n":1}');
      expect(delivery.queue).toBe(queue);
      expect(delivery.messageId).not.toBe('');
      expect(delivery.receiveCount).toBe(1);
    },
  },
  {
    name: 'delivers concurrent sends once each',
    run: async ({ queue, transport }) => {
      const one = await transport();
      const bodies = Array.from({ length: 25 }, (_, index) => `{"n":${index}}`);
      await sendAll(one, queue, bodies);
      const deliveries = await receiveSome(one, queue, bodies.length);
      expect(deliveries.map(textOf).toSorted()).toEqual(bodies.toSorted());
      expect(new Set(deliveries.map(({ messageId }) => messageId)).size).toBe(bodies.length);
    },
  },
  {
    name: 'receives at most the requested number of deliveries',
    run: async ({ queue, transport, never }) => {
      const one = await transport();
      await sendAll(one, queue, ['1', '2', '3', '4', '5']);
      const first = deliveriesOf(await one.receive(queue, 2, never));
      expect(first.length).toBeLessThanOrEqual(2);
      expect(await receiveSome(one, queue, 5 - first.length)).toHaveLength(5 - first.length);
    },
  },
  {
    name: 'does not deliver a message to two consumers at the same time',
    run: async ({ queue, transport }) => {
      const [one, other] = [await transport(), await transport()];
      await one.send(queue, '"held"');
      await receiveOne(one, queue);
      await receiveNothing(other, queue, 1_000);
    },
  },
  {
    name: 'redelivers a released delivery at once if it was released without a pause',
    run: async ({ queue, transport }) => {
      const one = await transport();
      await one.send(queue, '"again"');
      const first = await receiveOne(one, queue);
      expect(await one.nack(first, 0)).toEqual(OK);
      const second = await receiveOne(one, queue);
      expect(textOf(second)).toBe('"again"');
      expect(second.messageId).toBe(first.messageId);
    },
  },
  {
    name: 'does not redeliver a released delivery before its pause is over',
    run: async ({ queue, transport }) => {
      const one = await transport();
      await one.send(queue, '"later"');
      const first = await receiveOne(one, queue);
      const releasedAt = Date.now();
      expect(await one.nack(first, 1_200)).toEqual(OK);
      await receiveOne(one, queue);
      expect(Date.now() - releasedAt).toBeGreaterThanOrEqual(1_200 - CLOCK_SLACK_MS);
    },
  },
  {
    name: 'redelivers an unsettled delivery after its visibility timeout, and not before',
    needs: ['redeliversAfterTimeout'],
    run: async ({ queue, transport }) => {
      const one = await transport({ visibilityMs: 1_000 });
      await one.send(queue, '"forgotten"');
      const askedAt = Date.now();
      const first = await receiveOne(one, queue);
      const second = await receiveOne(one, queue);
      expect(second.messageId).toBe(first.messageId);
      expect(Date.now() - askedAt).toBeGreaterThanOrEqual(1_000 - CLOCK_SLACK_MS);
    },
  },
  {
    name: 'restarts the visibility timeout when a delivery is extended',
    needs: ['redeliversAfterTimeout'],
    run: async ({ queue, transport }) => {
      const one = await transport({ visibilityMs: HIDDEN_MS });
      await one.send(queue, '"held on"');
      const first = await receiveOne(one, queue);
      await sleep(500);
      const extendedAt = Date.now();
      expect(await one.extend(first)).toEqual(OK);
      await receiveOne(one, queue);
      expect(Date.now() - extendedAt).toBeGreaterThanOrEqual(HIDDEN_MS - CLOCK_SLACK_MS);
    },
  },
  {
    name: 'does not redeliver an extended delivery that was acknowledged',
    run: async ({ queue, transport }) => {
      const one = await transport({ visibilityMs: HIDDEN_MS });
      await one.send(queue, '"extended"');
      const delivery = await receiveOne(one, queue);
      expect(await one.extend(delivery)).toEqual(OK);
      expect(await one.ack(delivery)).toEqual(OK);
      await receiveNothingMore(one, queue);
    },
  },
  {
    name: 'does not redeliver an acknowledged delivery, even after a reconnect',
    run: async ({ queue, transport }) => {
      const one = await transport({ visibilityMs: HIDDEN_MS });
      await sendAll(one, queue, ['"first"', '"second"']);
      const deliveries = await receiveSome(one, queue, 2);
      expect(await Promise.all(deliveries.map((delivery) => one.ack(delivery)))).toEqual([OK, OK]);
      await one.close();
      await receiveNothingMore(await transport(), queue);
    },
  },
  {
    name: 'redelivers an unsettled delivery after a reconnect',
    run: async ({ queue, transport }) => {
      const one = await transport({ visibilityMs: 1_000 });
      await one.send(queue, '"left behind"');
      await receiveOne(one, queue);
      await one.close();
      expect(textOf(await receiveOne(await transport(), queue))).toBe('"left behind"');
    },
  },
  {
    name: 'increments the receive count',
    needs: ['countsReceives'],
    run: async ({ queue, transport }) => {
      const one = await transport();
      expect(one.traits.countsReceives).toBe(true);
      await one.send(queue, '"counted"');
      for (const count of [1, 2, 3]) {
        const delivery = await receiveOne(one, queue);
        expect(delivery.receiveCount).toBe(count);
        await one.nack(delivery, 0);
      }
    },
  },
  {
    name: 'moves a delivery that was released too often to the dead-letter queue, unchanged',
    needs: ['deadLetters'],
    run: async ({ broker, queue, transport }) => {
      const one = await transport();
      await expectDeadLettered(one, queue, broker.maxReceiveCount);
    },
  },
  {
    name: 'dead-letters from queues that ensureQueue created',
    needs: ['deadLetters', 'createsQueues'],
    run: async ({ broker, newName, transport }) => {
      const one = await transport();
      const made = newName();
      expect(await one.ensureQueue(made)).toEqual(OK);
      await expectDeadLettered(one, made, broker.maxReceiveCount);
    },
  },
];

/** Sends a message, releases it `maxReceiveCount` times, and expects it in the dead-letter queue. */
async function expectDeadLettered(one: Transport, queue: string, maxReceiveCount: number): Promise<void> {
  const body = `{"text":"é\\u0001\\"","long":"${'x'.repeat(100_000)}"}`;
  await one.send(queue, body);
  for (let count = 1; count <= maxReceiveCount; count++) {
    expect(await one.nack(await receiveOne(one, queue), 0)).toEqual(OK);
  }
  await receiveNothing(one, queue, 0);
  expect(textOf(await receiveOne(one, deadLetterQueueName(queue)))).toBe(body);
}
