import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Reply } from '../../../lib/ports/reply.ts';
import { runInProcess } from '../child-process.ts';
import { deliveriesOf, type Law, OK, receiveOne, sendAll, textOf } from '../law.ts';

/** Much longer than an abort takes, and clearly shorter than the wait that is aborted. */
const AT_ONCE_MS = 15_000;
const LONG_WAIT_MS = 20_000;
const MANY = 5_000;
/** Sends per batch. With more concurrent sends, the last ones could time out on a busy machine. */
const PORTION = 500;
const CONSUMERS = 4;

export const ENDING_LAWS: readonly Law[] = [
  {
    name: 'ends a long poll at once when it is aborted, without deliveries',
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
    name: 'returns no deliveries for a receive that was aborted before it started',
    run: async ({ queue, transport }) => {
      const one = await transport({ waitMs: LONG_WAIT_MS });
      const beganAt = Date.now();
      expect(deliveriesOf(await one.receive(queue, 1, AbortSignal.abort()))).toEqual([]);
      expect(Date.now() - beganAt).toBeLessThan(AT_ONCE_MS);
    },
  },
  {
    name: 'close() waits for sends and acks in progress',
    run: async ({ queue, transport }) => {
      const one = await transport();
      await sendAll(one, queue, ['"acked"']);
      const delivery = await receiveOne(one, queue);
      const ended: Reply[] = [];
      for (const doing of [one.ack(delivery), one.send(queue, '"sent"')]) {
        doing.then((reply) => ended.push(reply));
      }
      await one.close();
      // They settle before close() or at the same time.
      await sleep(0);
      expect(ended).toEqual([OK, OK]);
      const other = await transport();
      expect(textOf(await receiveOne(other, queue))).toBe('"sent"');
    },
  },
  {
    name: 'close() ends a receive in progress, even if it was not aborted',
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
      expect(wasOver, 'the receive had ended when close() resolved').toBe(true);
    },
  },
  {
    name: 'close() can be called twice',
    run: async ({ queue, transport }) => {
      const one = await transport();
      await sendAll(one, queue, ['1']);
      await one.close();
      await one.close();
    },
  },
  {
    name: 'close() leaves nothing that keeps the process running',
    run: async ({ broker, queue }) => {
      const { output, status } = await runInProcess('close-child.ts', {
        maker: broker.maker,
        queue,
        times: { visibilityMs: 30_000, waitMs: LONG_WAIT_MS },
      });
      expect({ output, status }).toEqual({ output: expect.stringMatching(/^closed/), status: 0 });
    },
  },
  {
    name: `delivers ${MANY.toLocaleString('en')} messages to four consumers without a loss`,
    needs: ['deepQueues'],
    isExclusive: true,
    run: async ({ queue, transport }) => {
      // A long timeout, because each message must be received once, also on a busy machine.
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
      const counts = new Map<number, number>();
      const stop = new AbortController();
      const consume = async () => {
        const one = await transport(times);
        while (!stop.signal.aborted) {
          const deliveries = deliveriesOf(await one.receive(queue, one.traits.maxBatch, stop.signal));
          for (const delivery of deliveries) {
            const { n } = JSON.parse(textOf(delivery)) as { n: number };
            counts.set(n, (counts.get(n) ?? 0) + 1);
          }
          const replies = await Promise.all(deliveries.map((delivery) => one.ack(delivery)));
          expect(replies.filter(({ ok }) => !ok)).toEqual([]);
          if (counts.size === MANY) stop.abort();
        }
      };
      const tooLate = setTimeout(() => stop.abort(), 120_000);
      await Promise.all(Array.from({ length: CONSUMERS }, consume));
      clearTimeout(tooLate);
      expect(numbers.filter((number) => !counts.has(number))).toEqual([]);
      expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
    },
  },
];
