import { expect } from 'vitest';
import { CLOCK_SLACK_MS, type Law, OK, receiveNothing, receiveOne, textOf } from '../law.ts';

export const DELAY_LAWS: readonly Law[] = [
  {
    name: 'does not deliver before the delay is over',
    needs: ['delays'],
    run: async ({ queue, transport }) => {
      const one = await transport();
      const sentAt = Date.now();
      const replies = await Promise.all([
        one.sendWithDelay(queue, '"late"', 1_100),
        one.send(queue, '"soon"'),
      ]);
      expect(replies).toEqual([OK, OK]);
      const tookMs = new Map<string, number>();
      // In any order: if the machine pauses for longer than the delay, both are ready.
      for (const _ of replies) tookMs.set(textOf(await receiveOne(one, queue)), Date.now() - sentAt);
      expect([...tookMs.keys()].toSorted()).toEqual(['"late"', '"soon"']);
      expect(tookMs.get('"late"')).toBeGreaterThanOrEqual(1_100 - CLOCK_SLACK_MS);
    },
  },
  {
    name: 'delivers a short delay before a longer one that was sent earlier',
    needs: ['delays'],
    run: async ({ queue, transport }) => {
      const one = await transport();
      expect(await one.sendWithDelay(queue, '"long"', 600_000)).toEqual(OK);
      const sentAt = Date.now();
      expect(await one.sendWithDelay(queue, '"short"', 700)).toEqual(OK);
      expect(textOf(await receiveOne(one, queue))).toBe('"short"');
      expect(Date.now() - sentAt).toBeGreaterThanOrEqual(700 - CLOCK_SLACK_MS);
    },
  },
  {
    name: 'accepts the longest allowed delay',
    needs: ['delays'],
    run: async ({ queue, transport }) => {
      const one = await transport();
      expect(await one.sendWithDelay(queue, '"much later"', one.traits.maxDelayMs)).toEqual(OK);
      await receiveNothing(one, queue, 1_000);
    },
  },
  {
    name: 'refuses a delayed send that is too large',
    needs: ['delays', 'refusesLargeBodies'],
    run: async ({ queue, transport }) => {
      const one = await transport();
      const body = `"${'x'.repeat(one.traits.maxBodyBytes)}"`;
      expect(await one.sendWithDelay(queue, body, 1_000)).toEqual({ ok: false, problem: expect.any(String) });
    },
  },
  {
    name: 'refuses delayed sends if it does not support delays, and does not deliver them at once',
    lacks: 'delays',
    run: async ({ queue, transport }) => {
      const one = await transport();
      const reply = await one.sendWithDelay(queue, '"later"', 1_000);
      expect(reply).toEqual({ ok: false, problem: expect.any(String) });
      await receiveNothing(one, queue, 1_500);
    },
  },
];
