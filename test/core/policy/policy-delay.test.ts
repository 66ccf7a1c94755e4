import { describe, expect, it } from 'vitest';
import {
  delayAfterAttempt,
  delayWithRetryAfter,
  retryAfterMs,
} from '../../../lib/core/policy/policy-delay.ts';
import { MAX_DURATION_MS } from '../../../lib/core/text/duration.ts';
import { at, NOW, policyOf } from '../a-delivery.ts';

describe('the delay after attempt N', () => {
  it.each([
    ['constant', { backoff: 'constant', initialDelay: '3s' }, [3_000, 3_000, 3_000, 3_000]],
    ['fixed', { backoff: 'fixed', initialDelay: '3s' }, [3_000, 3_000]],
    ['linear', { backoff: 'linear', initialDelay: '3s' }, [3_000, 6_000, 9_000, 12_000]],
    ['exponential', { backoff: 'exponential', initialDelay: '3s' }, [3_000, 6_000, 12_000, 24_000]],
    ['exponential when nothing is said', { initialDelay: '1s' }, [1_000, 2_000, 4_000]],
    [
      'schedule, the last one repeats',
      { backoff: 'schedule', delays: ['1s', '5s'] },
      [1_000, 5_000, 5_000, 5_000],
    ],
    ['no delay at all', {}, [0, 0, 0]],
    ['no delay at all, linear', { backoff: 'linear' }, [0, 0]],
    ['no delay at all, constant', { backoff: 'constant' }, [0, 0]],
    ['a cap', { initialDelay: '3s', maxInterval: '10s' }, [3_000, 6_000, 10_000, 10_000]],
    ['a cap on a schedule', { backoff: 'schedule', delays: ['1s', '5s'], maxInterval: '2s' }, [1_000, 2_000]],
    ['a cap of 0, which is not set', { initialDelay: '3s', maxInterval: '0s' }, [3_000, 6_000]],
  ])('%s', (_what, input, delays) => {
    const policy = policyOf(input);
    expect(delays.map((_, index) => delayAfterAttempt(policy, index + 1, 0.99))).toEqual(delays);
  });

  it.each([
    [0, 1_000],
    [0.5, 1_050],
    [0.25, 1_025],
    [0.999999, 1_100],
    [0.0004, 1_000],
    [0.0051, 1_001],
  ])('with jitter and the dice at %d is %d, the nearest whole millisecond', (roll, delayMs) => {
    expect(delayAfterAttempt(policyOf({ initialDelay: '1s', jitter: true }), 1, roll)).toBe(delayMs);
  });

  it('has its jitter after the cap', () => {
    const policy = policyOf({ initialDelay: '10s', maxInterval: '1s', jitter: true });
    expect(delayAfterAttempt(policy, 1, 0.5)).toBe(1_050);
  });

  it.each([
    ['without a cap', { initialDelay: '1h' }, MAX_DURATION_MS],
    ['with one', { initialDelay: '1h', maxInterval: '2h' }, 7_200_000],
    ['linear', { initialDelay: '1h', backoff: 'linear' }, MAX_DURATION_MS],
    ['from nothing', {}, 0],
  ])('after more attempts than can be counted is a number still, %s', (_what, input, delayMs) => {
    for (const attempt of [1e9, 2_000_000_000, Number.MAX_SAFE_INTEGER]) {
      expect(delayAfterAttempt(policyOf(input), attempt, 0)).toBe(delayMs);
    }
  });

  it('of nothing stays nothing however often it doubles', () => {
    expect(delayAfterAttempt(policyOf({ jitter: true }), 5_000, 0.5)).toBe(0);
  });

  it('of an empty schedule is none', () => {
    const policy = { ...policyOf({}), backoff: { kind: 'schedule', delaysMs: [] } as const };
    expect(delayAfterAttempt(policy, 1, 0)).toBe(0);
  });
});

describe('a runtime that asks for a pause', () => {
  it.each([
    [7, 7_000],
    [0, 0],
    [0.5, 500],
    [0.0004, 0],
    [0.0006, 1],
    ['7', 7_000],
    ['7.25', 7_250],
    ['0', 0],
    ['10', 10_000],
    [at(5_000), 5_000],
    ['2026-01-01T01:00:07+01:00', 7_000],
    [at(0), 0],
    ['Thu, 01 Jan 2026 00:00:09 GMT', 9_000],
    ['Thu, 01 Jan 2026 00:00:00 GMT', 0],
  ])('%j is %d ms', (value, milliseconds) => {
    expect(retryAfterMs(value, NOW)).toBe(milliseconds);
  });

  it.each([
    [-1],
    ['-1'],
    ['+1'],
    [''],
    ['7s'],
    ['x7'],
    ['7.'],
    ['.5'],
    ['1e3'],
    [' 7'],
    ['soon'],
    [at(-1)],
    ['Wed, 31 Dec 2025 23:59:59 GMT'],
    [null],
    [true],
    [[7]],
    [{}],
    [Number.NaN],
    [undefined],
  ])('%j is as none', (value) => {
    expect(retryAfterMs(value, NOW)).toBeUndefined();
  });
});

describe('the delay and the wish together', () => {
  const free = { initialDelay: '1s' };
  const capped = { initialDelay: '1s', maxInterval: '5s' };
  it.each([
    ['the wish is longer', free, 1_000, 7, 7_000],
    ['the delay is longer', free, 9_000, 7, 9_000],
    ['the wish is capped', capped, 1_000, 7, 5_000],
    ['the delay with its jitter is longer than the cap', capped, 5_500, 7, 5_500],
    ['no wish', free, 1_000, undefined, 1_000],
    ['an unreadable wish', free, 1_000, 'soon', 1_000],
    ['a negative wish', free, 1_000, -7, 1_000],
    ['a wish without end', free, 1_000, Number.POSITIVE_INFINITY, MAX_DURATION_MS],
    ['a wish for nothing', free, 1_000, 0, 1_000],
  ])('%s', (_what, input, delayMs, wish, expected) => {
    expect(delayWithRetryAfter(policyOf(input), delayMs, wish, NOW)).toBe(expected);
  });
});
