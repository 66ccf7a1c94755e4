import { afterEach, expect, it, vi } from 'vitest';
import { inFlight } from '../../lib/async/in-flight.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('waits for work until it settles, also if it rejects', async () => {
  const works = inFlight();
  let fail = (_error: Error) => {};
  const failing = works.track(
    new Promise<void>((_resolve, reject) => {
      fail = reject;
    }),
  );
  expect(await works.track(Promise.resolve(1))).toBe(1);
  expect(works.size).toBe(1);
  const settled = works.settled();
  fail(new Error('no'));
  await expect(failing).rejects.toThrow('no');
  await settled;
  expect(works.size).toBe(0);
});

it('waits no longer than the time limit', async () => {
  vi.useFakeTimers();
  const works = inFlight();
  works.track(new Promise(() => {}));
  let isOver = false;
  const settled = works.settled(5_000).then(() => {
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
