import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prefetchFor } from '../../../lib/app/delivery/prefetch.ts';

function limitAfter(callsMs: readonly number[], concurrency = 1, maxBatch = 10): number {
  const prefetch = prefetchFor(concurrency, maxBatch);
  for (const callMs of callsMs) prefetch.recordCall(callMs);
  return prefetch.limit;
}

describe('the prefetch', () => {
  it('is 0 before the first call', () => {
    expect(limitAfter([])).toBe(0);
  });

  it.each([
    ['0 ms', [0], 1, 20],
    ['1 ms', [1], 1, 20],
    ['50 ms', [50], 1, 20],
    ['100 ms', [100], 1, 10],
    ['100 ms, two at a time', [100], 2, 20],
    ['half a second', [500], 1, 2],
    ['a second', [1_000], 1, 1],
    ['a little more than a second', [1_001], 1, 0],
    ['a minute', [60_000], 1, 0],
    ['a minute, ten at a time', [60_000], 10, 0],
  ])(
    'for calls of %s is the number that can be processed within a second',
    (_what, callsMs, concurrency, limit) => {
      expect(limitAfter(callsMs, concurrency)).toBe(limit);
    },
  );

  it('is at most two batches', () => {
    expect(limitAfter([1], 50, 10)).toBe(20);
    expect(limitAfter([1], 50, 1)).toBe(2);
  });

  it('shrinks when calls become slow, and grows again when they become fast', () => {
    const prefetch = prefetchFor(1, 10);
    const record = (callMs: number, times: number) => {
      for (let time = 0; time < times; time++) prefetch.recordCall(callMs);
    };
    record(10, 20);
    expect(prefetch.limit).toBe(20);
    record(10_000, 1);
    expect(prefetch.limit).toBe(0);
    record(10, 50);
    expect(prefetch.limit).toBe(20);
  });

  it('is a whole number within its bounds for any call durations', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 10 }),
        (callsMs, concurrency, maxBatch) => {
          const limit = limitAfter(callsMs, concurrency, maxBatch);
          expect(Number.isInteger(limit)).toBe(true);
          expect(limit).toBeGreaterThanOrEqual(0);
          expect(limit).toBeLessThanOrEqual(2 * maxBatch);
        },
      ),
      { numRuns: 300, seed: 20_260_101 },
    );
  });
});
