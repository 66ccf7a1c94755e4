import { expect, it } from 'vitest';
import { attachment } from '../../../lib/local/debugger/attachment.ts';
import { keepHidden } from '../../../lib/local/functions/keep-hidden.ts';
import { virtualClock } from '../../app/virtual-clock.ts';

function aMessage(hide: () => Promise<void> = async () => {}) {
  const clock = virtualClock();
  const startedAt = clock.now();
  const debug = attachment(clock);
  const processed = new AbortController();
  const hiddenAt: number[] = [];
  const queue = {
    hide: async (messages: readonly object[], seconds: number) => {
      expect([messages.length, seconds]).toEqual([1, 40]);
      hiddenAt.push((clock.now() - startedAt) / 1000);
      await hide();
    },
  };
  const ended = keepHidden({
    queue,
    messages: [{ MessageId: 'one' }],
    attachment: debug,
    visibilitySeconds: 40,
    over: processed.signal,
    clock,
  });
  return { clock, debug, processed, hiddenAt, ended };
}

it('hides a message again and again while a debugger is attached', async () => {
  const { clock, debug, hiddenAt } = aMessage();
  await clock.pass(15_000);
  expect(hiddenAt).toEqual([]);
  debug.set(true);
  await clock.pass(25_000);
  expect(hiddenAt).toEqual([15, 25, 35]);
});

it('hides it once more when the debugger has left', async () => {
  const { clock, debug, hiddenAt } = aMessage();
  debug.set(true);
  await clock.pass(5_000);
  debug.set(false);
  await clock.pass(60_000);
  expect(hiddenAt).toEqual([0, 5]);
  debug.set(true);
  await clock.pass(1_000);
  expect(hiddenAt).toEqual([0, 5, 65]);
});

it('ends when the message has been processed', async () => {
  const { clock, debug, processed, hiddenAt, ended } = aMessage();
  debug.set(true);
  await clock.pass(1_000);
  processed.abort();
  await ended;
  debug.set(false);
  await clock.pass(60_000);
  expect(hiddenAt).toEqual([0]);
  expect(clock.sleepers).toBe(0);
});

it('continues if the queue does not respond', async () => {
  const { clock, debug, hiddenAt } = aMessage(() => Promise.reject(new Error('no answer')));
  debug.set(true);
  await clock.pass(10_000);
  expect(hiddenAt).toEqual([0, 10]);
});
