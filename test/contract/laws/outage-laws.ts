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

/** Enough time for an ack without a confirmation to reach the broker. */
const IN_TRANSIT_MS = 500;

/** Exclusive, because an outage affects every breakable transport. */
export const OUTAGE_LAWS: readonly Law[] = [
  {
    name: 'refuses all calls during an outage without throwing, and recovers afterwards',
    needs: ['outages'],
    isExclusive: true,
    run: async ({ broker, queue, breakableTransport, never }) => {
      const one = await breakableTransport();
      await sendAll(one, queue, ['"before"']);
      const delivery = await receiveOne(one, queue);
      const end = broker.beginOutage();
      const calls = [
        receiveRefusal(one, queue),
        one.send(queue, '"during"'),
        one.ack(delivery),
        one.nack(delivery, 0),
        one.checkQueue(queue),
        one.ensureQueue(`${queue}-other`),
      ];
      const replies = await Promise.all<Reply>(calls);
      end();
      for (const reply of replies) expect(reply).toEqual({ ok: false, problem: expect.any(String) });
      await untilAccepted(() => one.checkQueue(queue));
      await untilAccepted(() => one.ensureQueue(`${queue}-other`));
      await untilAccepted(() => one.send(queue, '"after"'));
      await untilAccepted(() => one.receive(queue, 1, never));
    },
  },
  {
    name: 'redelivers unsettled deliveries after a lost connection, and delivers later sends',
    needs: ['outages'],
    isExclusive: true,
    run: async ({ broker, queue, breakableTransport }) => {
      const one = await breakableTransport();
      await sendAll(one, queue, ['"before"']);
      const delivery = await receiveOne(one, queue);
      const end = broker.beginOutage();
      await sleep(IN_TRANSIT_MS);
      end();
      // Has no effect if the broker has already requeued the message.
      await untilAccepted(() => one.nack(delivery, 0));
      await untilAccepted(() => one.send(queue, '"after"'));
      const deliveries = await receiveSome(one, queue, 2);
      expect(deliveries.map(textOf).toSorted()).toEqual(['"after"', '"before"']);
    },
  },
  {
    name: 'settles deliveries from before a short outage',
    needs: ['outages', 'settlesAfterReconnect'],
    isExclusive: true,
    run: async ({ broker, queue, breakableTransport }) => {
      const one = await breakableTransport();
      await sendAll(one, queue, ['"acked"', '"released"']);
      const deliveries = await receiveSome(one, queue, 2);
      const end = broker.beginOutage();
      await sleep(IN_TRANSIT_MS);
      end();
      await untilAccepted(() => one.checkQueue(queue));
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
    name: 'does not redeliver an acknowledged delivery after a lost connection',
    needs: ['outages'],
    isExclusive: true,
    run: async ({ broker, queue, breakableTransport }) => {
      const one = await breakableTransport({ visibilityMs: HIDDEN_MS });
      await sendAll(one, queue, ['"done"']);
      expect(await one.ack(await receiveOne(one, queue))).toEqual(OK);
      await sleep(IN_TRANSIT_MS);
      const end = broker.beginOutage();
      expect((await one.checkQueue(queue)).ok).toBe(false);
      end();
      await untilAccepted(() => one.checkQueue(queue));
      await receiveNothingMore(one, queue);
    },
  },
];
