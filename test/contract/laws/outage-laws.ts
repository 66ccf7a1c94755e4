import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Reply } from '../../../lib/ports/reply.ts';
import {
  HIDDEN_MS,
  type Law,
  OK,
  receiveNothing,
  receiveNothingMore,
  receiveOne,
  receiveRefusal,
  receiveSome,
  sendAll,
  textOf,
  untilAccepted,
} from '../law.ts';

/** For an ack that nobody answers to reach the broker. */
const ON_ITS_WAY_MS = 500;

/** Alone: whoever else uses a breakable transport would be cut off too. */
export const OUTAGE_LAWS: readonly Law[] = [
  {
    name: 'while the broker is out of reach everything is refused and nothing thrown; then all is well again',
    needs: ['outages'],
    isExclusive: true,
    run: async ({ broker: bench, queue, breakableTransport, never }) => {
      const one = await breakableTransport();
      await sendAll(one, queue, ['"before"']);
      const delivery = await receiveOne(one, queue);
      const end = bench.beginOutage();
      const asked = [
        receiveRefusal(one, queue),
        one.send(queue, '"during"'),
        one.ack(delivery),
        one.nack(delivery, 0),
        one.reach(queue),
        one.ensureQueue(`${queue}-other`),
      ];
      const replies = await Promise.all<Reply>(asked);
      end();
      for (const reply of replies) expect(reply).toEqual({ ok: false, problem: expect.any(String) });
      await untilAccepted(() => one.reach(queue));
      await untilAccepted(() => one.ensureQueue(`${queue}-other`));
      await untilAccepted(() => one.send(queue, '"after"'));
      await untilAccepted(() => one.receive(queue, 1, never));
    },
  },
  {
    name: 'what was in hand when the connection broke comes again, and so does what is sent afterwards',
    needs: ['outages'],
    isExclusive: true,
    run: async ({ broker: bench, queue, breakableTransport }) => {
      const one = await breakableTransport();
      await sendAll(one, queue, ['"before"']);
      const delivery = await receiveOne(one, queue);
      const end = bench.beginOutage();
      await sleep(ON_ITS_WAY_MS);
      end();
      // Of no use where the broker has taken it back already, and harmless.
      await untilAccepted(() => one.nack(delivery, 0));
      await untilAccepted(() => one.send(queue, '"after"'));
      const deliveries = await receiveSome(one, queue, 2);
      expect(deliveries.map(textOf).toSorted()).toEqual(['"after"', '"before"']);
    },
  },
  {
    name: 'what was received before a short outage can be settled after it',
    needs: ['outages', 'settlesAfterReconnect'],
    isExclusive: true,
    run: async ({ broker: bench, queue, breakableTransport }) => {
      const one = await breakableTransport();
      await sendAll(one, queue, ['"acked"', '"released"']);
      const deliveries = await receiveSome(one, queue, 2);
      const end = bench.beginOutage();
      await sleep(ON_ITS_WAY_MS);
      end();
      await untilAccepted(() => one.reach(queue));
      const replies = deliveries.map((delivery) =>
        textOf(delivery) === '"acked"' ? one.ack(delivery) : one.nack(delivery, 0),
      );
      expect(await Promise.all(replies)).toEqual([OK, OK]);
      const again = await receiveOne(one, queue);
      expect(textOf(again)).toBe('"released"');
      expect(await one.ack(again)).toEqual(OK);
      await receiveNothing(one, queue, 2_100);
    },
  },
  {
    name: 'an acked delivery does not come again after its connection broke',
    needs: ['outages'],
    isExclusive: true,
    run: async ({ broker: bench, queue, breakableTransport }) => {
      const one = await breakableTransport({ visibilityMs: HIDDEN_MS });
      await sendAll(one, queue, ['"done"']);
      expect(await one.ack(await receiveOne(one, queue))).toEqual(OK);
      await sleep(ON_ITS_WAY_MS);
      const end = bench.beginOutage();
      expect((await one.reach(queue)).ok).toBe(false);
      end();
      await untilAccepted(() => one.reach(queue));
      await receiveNothingMore(one, queue);
    },
  },
];
