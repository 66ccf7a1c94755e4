import { afterEach, expect, it, vi } from 'vitest';
import { inFlight } from '../../lib/async/in-flight.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('waits for work until it settles, also if it rejects', async () => {
  const tracked = inFlight();
  let fail = (_error: Error) => {};
  const failing = tracked.track(
    new Promise<void>((_resolve, reject) => {
      fail = reject;
    }),
  );
  expect(await tracked.track(Promise.resolve(1))).toBe(1);
  expect(tracked.size).toBe(1);
  const settled = tracked.settled();
  fail(new Error('no'));
  await expect(failing).rejects.toThrow('no');
  await settled;
  expect(tracked.size).toBe(0);
});

it('stops waiting after the time limit', async () => {
  vi.useFakeTimers();
  const tracked = inFlight();
  tracked.track(new Promise(() => {}));
  let isOver = false;
  const settled = tracked.settled(5_000).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(4_999);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await settled;
});

it('leaves no timer behind', async () => {
  vi.useFakeTimers();
  await inFlight().settled(5_000);
  expect(vi.getTimerCount()).toBe(0);
});
