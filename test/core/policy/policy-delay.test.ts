import { describe, expect, it } from 'vitest';
import {
  delayAfterAttempt,
  delayWithRetryAfter,
  retryAfterMs,
} from '../../../lib/core/policy/policy-delay.ts';
import { MAX_DURATION_MS } from '../../../lib/core/text/duration.ts';
import { at, NOW, policyOf } from '../a-delivery.ts';

describe('delayAfterAttempt', () => {
  it.each([
    ['constant', { backoff: 'constant', initialDelay: '3s' }, [3_000, 3_000, 3_000, 3_000]],
    ['fixed', { backoff: 'fixed', initialDelay: '3s' }, [3_000, 3_000]],
    ['linear', { backoff: 'linear', initialDelay: '3s' }, [3_000, 6_000, 9_000, 12_000]],
    ['exponential', { backoff: 'exponential', initialDelay: '3s' }, [3_000, 6_000, 12_000, 24_000]],
    ['exponential by default', { initialDelay: '1s' }, [1_000, 2_000, 4_000]],
    [
      'a schedule repeats its last delay',
      { backoff: 'schedule', delays: ['1s', '5s'] },
      [1_000, 5_000, 5_000, 5_000],
    ],
    ['no delay', {}, [0, 0, 0]],
    ['no delay, linear', { backoff: 'linear' }, [0, 0]],
    ['no delay, constant', { backoff: 'constant' }, [0, 0]],
    ['maxInterval', { initialDelay: '3s', maxInterval: '10s' }, [3_000, 6_000, 10_000, 10_000]],
    [
      'maxInterval with a schedule',
      { backoff: 'schedule', delays: ['1s', '5s'], maxInterval: '2s' },
      [1_000, 2_000],
    ],
    ['a maxInterval of 0 counts as absent', { initialDelay: '3s', maxInterval: '0s' }, [3_000, 6_000]],
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
  ])('adds jitter for the random value %d: %d ms', (roll, delayMs) => {
    expect(delayAfterAttempt(policyOf({ initialDelay: '1s', jitter: true }), 1, roll)).toBe(delayMs);
  });

  it('adds jitter after maxInterval', () => {
    const policy = policyOf({ initialDelay: '10s', maxInterval: '1s', jitter: true });
    expect(delayAfterAttempt(policy, 1, 0.5)).toBe(1_050);
  });

  it.each([
    ['without maxInterval', { initialDelay: '1h' }, MAX_DURATION_MS],
    ['with maxInterval', { initialDelay: '1h', maxInterval: '2h' }, 7_200_000],
    ['linear', { initialDelay: '1h', backoff: 'linear' }, MAX_DURATION_MS],
    ['from an initial delay of 0', {}, 0],
  ])('is a finite number after very many attempts, %s', (_what, input, delayMs) => {
    for (const attempt of [1e9, 2_000_000_000, Number.MAX_SAFE_INTEGER]) {
      expect(delayAfterAttempt(policyOf(input), attempt, 0)).toBe(delayMs);
    }
  });

  it('stays 0 for an initial delay of 0', () => {
    expect(delayAfterAttempt(policyOf({ jitter: true }), 5_000, 0.5)).toBe(0);
  });

  it('is 0 for an empty schedule', () => {
    const policy = { ...policyOf({}), backoff: { kind: 'schedule', delaysMs: [] } as const };
    expect(delayAfterAttempt(policy, 1, 0)).toBe(0);
  });
});

describe('retryAfterMs', () => {
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
  ])('ignores %j', (value) => {
    expect(retryAfterMs(value, NOW)).toBeUndefined();
  });
});

describe('delayWithRetryAfter', () => {
  const free = { initialDelay: '1s' };
  const capped = { initialDelay: '1s', maxInterval: '5s' };
  it.each([
    ['the requested delay is longer', free, 1_000, 7, 7_000],
    ["the policy's delay is longer", free, 9_000, 7, 9_000],
    ['maxInterval limits the requested delay', capped, 1_000, 7, 5_000],
    ['the delay with jitter exceeds maxInterval', capped, 5_500, 7, 5_500],
    ['no requested delay', free, 1_000, undefined, 1_000],
    ['an invalid requested delay', free, 1_000, 'soon', 1_000],
    ['a negative requested delay', free, 1_000, -7, 1_000],
    ['an infinite requested delay', free, 1_000, Number.POSITIVE_INFINITY, MAX_DURATION_MS],
    ['a requested delay of 0', free, 1_000, 0, 1_000],
  ])('%s', (_what, input, delayMs, retryAfter, expected) => {
    expect(delayWithRetryAfter(policyOf(input), delayMs, retryAfter, NOW)).toBe(expected);
  });
});
