import { expect } from 'vitest';
import { CLOCK_SLACK_MS, type Law, OK, receiveNothing, receiveOne, textOf } from '../law.ts';

export const DELAY_LAWS: readonly Law[] = [
  {
    name: 'a delay is a lower bound',
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
      // In whichever order: a machine that pauses for longer than the delay finds both there.
      for (const _ of replies) tookMs.set(textOf(await receiveOne(one, queue)), Date.now() - sentAt);
      expect([...tookMs.keys()].toSorted()).toEqual(['"late"', '"soon"']);
      expect(tookMs.get('"late"')).toBeGreaterThanOrEqual(1_100 - CLOCK_SLACK_MS);
    },
  },
  {
    name: 'a short delay is not held up by a longer one that was sent before',
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
    name: 'the longest delay that the traits allow is accepted',
    needs: ['delays'],
    run: async ({ queue, transport }) => {
      const one = await transport();
      expect(await one.sendWithDelay(queue, '"much later"', one.traits.maxDelayMs)).toEqual(OK);
      await receiveNothing(one, queue, 1_000);
    },
  },
  {
    name: 'a delayed send that is too big is refused too',
    needs: ['delays', 'refusesLargeBodies'],
    run: async ({ queue, transport }) => {
      const one = await transport();
      const body = `"${'x'.repeat(one.traits.maxBodyBytes)}"`;
      expect(await one.sendWithDelay(queue, body, 1_000)).toEqual({ ok: false, problem: expect.any(String) });
    },
  },
  {
    name: 'without delays, a delayed send is refused and does not arrive at once instead',
    lacks: 'delays',
    run: async ({ queue, transport }) => {
      const one = await transport();
      const reply = await one.sendWithDelay(queue, '"later"', 1_000);
      expect(reply).toEqual({ ok: false, problem: expect.any(String) });
      await receiveNothing(one, queue, 1_500);
    },
  },
];
