import { describe, expect, it } from 'vitest';
import { rateLimit } from '../../../lib/adapters/http/rate-limit.ts';

function makeLimit() {
  let now = 0;
  const take = rateLimit({ perSecond: 2, burst: 3 }, () => now);
  return {
    take,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

describe('a rate limit', () => {
  it('allows a burst, then the rate, and returns the time to wait', () => {
    const { take, pass } = makeLimit();
    expect([1, 2, 3, 4].map(() => take('a'))).toEqual([0, 0, 0, 1]);
    pass(500);
    expect([take('a'), take('a')]).toEqual([0, 1]);
    pass(60_000);
    expect([1, 2, 3, 4].map(() => take('a'))).toEqual([0, 0, 0, 1]);
  });

  it('counts each caller separately', () => {
    const { take } = makeLimit();
    for (let nth = 0; nth < 4; nth++) take('a');
    expect(take('b')).toBe(0);
  });

  it('tolerates a clock that goes backwards', () => {
    const { take, pass } = makeLimit();
    for (let nth = 0; nth < 3; nth++) take('a');
    pass(-60_000);
    expect(take('a')).toBe(1);
  });
});
