import { describe, expect, it } from 'vitest';
import { MIN_RECEIVE_COUNT } from '../../../lib/config/plan/queue-plan.ts';
import { releasePauseMs } from '../../../lib/core/delivery/release-pause.ts';

describe('the pause after a refused send', () => {
  it.each([
    [1, 15],
    [2, 60],
    [3, 240],
    [4, 900],
    [5, 900],
    [1_000, 900],
  ])('after receive %d is %d s', (receiveCount, seconds) => {
    expect(releasePauseMs(receiveCount)).toBe(seconds * 1000);
  });

  it.each([0, -1])('for a broker without receive counts (%d) equals the first pause', (receiveCount) => {
    expect(releasePauseMs(receiveCount)).toBe(15_000);
  });

  it('leaves the last receive for the time after an outage of 20 minutes', () => {
    const beforeLastMs = Array.from({ length: MIN_RECEIVE_COUNT - 1 }, (_, index) =>
      releasePauseMs(index + 1),
    ).reduce((sum, pauseMs) => sum + pauseMs, 0);
    expect(beforeLastMs).toBeGreaterThan(20 * 60_000);
  });
});
