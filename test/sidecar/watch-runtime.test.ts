import { afterEach, expect, test } from 'vitest';
import { type RuntimeWatch, watchRuntime } from '../../lib/app/watch-runtime.ts';
import type { Clock } from '../../lib/ports/clock.ts';
import type { Runtime } from '../../lib/ports/runtime.ts';

/** A clock that goes on when it is told to. */
function handClock(): Clock & { pass(milliseconds: number): Promise<void> } {
  let now = 0;
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();
  return {
    now: () => now,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper = {
          until: now + milliseconds,
          wake: () => {
            sleepers.delete(sleeper);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', sleeper.wake);
      }),
    pass: async (milliseconds) => {
      for (const end = now + milliseconds; now < end; ) {
        now += 50;
        for (const sleeper of [...sleepers]) if (sleeper.until <= now) sleeper.wake();
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

let watch: RuntimeWatch;
afterEach(() => watch.close());

function watched(problem: () => Promise<string | undefined>): ReturnType<typeof handClock> {
  const clock = handClock();
  watch = watchRuntime({ problem } as Runtime, clock);
  return clock;
}

test('a runtime is gone for good after a minute, and well again when it comes back', async () => {
  let problem: string | undefined;
  const clock = watched(async () => problem);
  await clock.pass(10_000);
  expect(watch.sickness()).toBeUndefined();
  problem = 'nobody is there';
  await clock.pass(50_000);
  expect(watch.sickness()).toBeUndefined();
  await clock.pass(20_000);
  expect(watch.sickness()).toMatch(/^the runtime has been gone for \d\d s: nobody is there$/);
  problem = undefined;
  await clock.pass(6_000);
  expect(watch.sickness()).toBeUndefined();
});

test('waits for the first time that it is ready', async () => {
  let problem: string | undefined = 'loading';
  const clock = watched(async () => problem);
  let isReady = false;
  const waiting = watch.untilReady(new AbortController().signal).then(() => {
    isReady = true;
  });
  await clock.pass(5_000);
  expect(isReady).toBe(false);
  problem = undefined;
  await clock.pass(500);
  await waiting;
  expect(isReady).toBe(true);
});

test('or for the stop', async () => {
  const clock = watched(async () => 'loading');
  const stop = new AbortController();
  const waiting = watch.untilReady(stop.signal);
  await clock.pass(5_000);
  stop.abort();
  await waiting;
});
