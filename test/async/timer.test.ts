import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../lib/adapters/system/system.ts';
import { startTimer } from '../../lib/async/timer.ts';

const DAY_MS = 86_400_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each([0, 1, 1_000, MAX_TIMER_MS, MAX_TIMER_MS + 1, 30 * DAY_MS, 100 * DAY_MS])(
  'a timer of %d ms',
  (milliseconds) => {
    it('is due after exactly that time', () => {
      const onDue = vi.fn();
      startTimer(milliseconds, onDue);
      vi.advanceTimersByTime(Math.max(0, milliseconds - 1));
      expect(onDue).toHaveBeenCalledTimes(milliseconds === 0 ? 1 : 0);
      vi.advanceTimersByTime(1);
      expect(onDue).toHaveBeenCalledTimes(1);
    });

    it('can be canceled at any time', () => {
      const onDue = vi.fn();
      const cancel = startTimer(milliseconds + 2, onDue);
      vi.advanceTimersByTime(milliseconds);
      cancel();
      expect(vi.getTimerCount()).toBe(0);
      vi.advanceTimersByTime(3);
      expect(onDue).not.toHaveBeenCalled();
    });
  },
);

describe("the system's clock", () => {
  it('sleeps for 30 days, and wakes when the signal aborts', async () => {
    let isAwake = false;
    const stop = new AbortController();
    const sleeping = systemClock.sleep(30 * DAY_MS, stop.signal).then(() => {
      isAwake = true;
    });
    await vi.advanceTimersByTimeAsync(29 * DAY_MS);
    expect(isAwake).toBe(false);
    stop.abort();
    await sleeping;
    expect(vi.getTimerCount()).toBe(0);
    const whole = systemClock.sleep(30 * DAY_MS).then(() => 'awake');
    await vi.advanceTimersByTimeAsync(30 * DAY_MS);
    expect(await whole).toBe('awake');
  });
});
