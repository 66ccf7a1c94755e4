import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Reply } from '../../../lib/ports/reply.ts';
import { runInProcess } from '../child-process.ts';
import { deliveriesOf, type Law, OK, receiveOne, sendAll, textOf } from '../law.ts';

/** Far above what it takes, far below the wait that is cut short. */
const AT_ONCE_MS = 15_000;
const LONG_WAIT_MS = 20_000;
const MANY = 5_000;
/** Of more at once, the last would wait for a connection longer than is allowed, where the machine is busy. */
const PORTION = 500;
const CONSUMERS = 4;

export const ENDING_LAWS: readonly Law[] = [
  {
    name: 'an abort ends a long poll at once, with nothing',
    run: async ({ queue, transport }) => {
      const one = await transport({ waitMs: LONG_WAIT_MS });
      const stop = new AbortController();
      const beganAt = Date.now();
      const receiving = one.receive(queue, 1, stop.signal);
      await sleep(200);
      stop.abort();
      expect(deliveriesOf(await receiving)).toEqual([]);
      expect(Date.now() - beganAt).toBeLessThan(AT_ONCE_MS);
    },
  },
  {
    name: 'a receive that was aborted before it began brings nothing',
    run: async ({ queue, transport }) => {
      const one = await transport({ waitMs: LONG_WAIT_MS });
      const beganAt = Date.now();
      expect(deliveriesOf(await one.receive(queue, 1, AbortSignal.abort()))).toEqual([]);
      expect(Date.now() - beganAt).toBeLessThan(AT_ONCE_MS);
    },
  },
  {
    name: 'close() waits for the sends and acks that are under way',
    run: async ({ queue, transport }) => {
      const one = await transport();
      await sendAll(one, queue, ['"acked"']);
      const delivery = await receiveOne(one, queue);
      const ended: Reply[] = [];
      for (const doing of [one.ack(delivery), one.send(queue, '"sent"')]) {
        doing.then((reply) => ended.push(reply));
      }
      await one.close();
      // What is done says so before or as close() says so.
      await sleep(0);
      expect(ended).toEqual([OK, OK]);
      const other = await transport();
      expect(textOf(await receiveOne(other, queue))).toBe('"sent"');
    },
  },
  {
    name: 'close() leaves no receive behind, also one that nobody aborted',
    run: async ({ queue, transport, never }) => {
      const one = await transport({ waitMs: 2_000 });
      let isOver = false;
      const receiving = one.receive(queue, 1, never).then(() => {
        isOver = true;
      });
      await sleep(200);
      await one.close();
      await sleep(0);
      const wasOver = isOver;
      await receiving;
      expect(wasOver, 'the receive was over when close() was').toBe(true);
    },
  },
  {
    name: 'close() twice is harmless',
    run: async ({ queue, transport }) => {
      const one = await transport();
      await sendAll(one, queue, ['1']);
      await one.close();
      await one.close();
    },
  },
  {
    name: 'close() leaves nothing running: a process with a closed transport ends by itself',
    run: async ({ broker: bench, queue }) => {
      const { words, status } = await runInProcess('close-child.ts', {
        maker: bench.maker,
        queue,
        times: { visibilityMs: 30_000, waitMs: LONG_WAIT_MS },
      });
      expect({ words, status }).toEqual({ words: expect.stringMatching(/^closed/), status: 0 });
    },
  },
  {
    name: `${MANY.toLocaleString('en')} messages with four consumers, none lost`,
    needs: ['deepQueues'],
    isExclusive: true,
    run: async ({ queue, transport }) => {
      // Each once: a delivery that a busy machine holds for longer than its time would come again.
      const times = { visibilityMs: 120_000 };
      const sender = await transport(times);
      const numbers = Array.from({ length: MANY }, (_, index) => index);
      for (let from = 0; from < MANY; from += PORTION) {
        const some = numbers.slice(from, from + PORTION);
        await sendAll(
          sender,
          queue,
          some.map((number) => `{"n":${number}}`),
        );
      }
      const met = new Map<number, number>();
      const stop = new AbortController();
      const consume = async () => {
        const one = await transport(times);
        while (!stop.signal.aborted) {
          const deliveries = deliveriesOf(await one.receive(queue, one.traits.maxBatch, stop.signal));
          for (const delivery of deliveries) {
            const { n } = JSON.parse(textOf(delivery)) as { n: number };
            met.set(n, (met.get(n) ?? 0) + 1);
          }
          const replies = await Promise.all(deliveries.map((delivery) => one.ack(delivery)));
          expect(replies.filter(({ ok }) => !ok)).toEqual([]);
          if (met.size === MANY) stop.abort();
        }
      };
      const tooLate = setTimeout(() => stop.abort(), 120_000);
      await Promise.all(Array.from({ length: CONSUMERS }, consume));
      clearTimeout(tooLate);
      expect(numbers.filter((number) => !met.has(number))).toEqual([]);
      expect([...met.values()].filter((count) => count > 1)).toEqual([]);
    },
  },
];
