import { describe, expect, it } from 'vitest';
import { rateLimit } from '../../../lib/adapters/http/rate-limit.ts';

function atWork() {
  let now = 0;
  const take = rateLimit({ perSecond: 2, burst: 3 }, () => now);
  return {
    take,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

describe('a rate', () => {
  it('lets a burst through, then so many a second, and tells how long to wait', () => {
    const { take, pass } = atWork();
    expect([1, 2, 3, 4].map(() => take('a'))).toEqual([0, 0, 0, 1]);
    pass(500);
    expect([take('a'), take('a')]).toEqual([0, 1]);
    pass(60_000);
    expect([1, 2, 3, 4].map(() => take('a'))).toEqual([0, 0, 0, 1]);
  });

  it('is each caller’s own', () => {
    const { take } = atWork();
    for (let nth = 0; nth < 4; nth++) take('a');
    expect(take('b')).toBe(0);
  });

  it('is not fooled by a clock that goes back', () => {
    const { take, pass } = atWork();
    for (let nth = 0; nth < 3; nth++) take('a');
    pass(-60_000);
    expect(take('a')).toBe(1);
  });
});
