import { expect, it } from 'vitest';
import { lookAhead } from '../../../lib/adapters/runtime-socket/look-ahead.ts';

const after = (...durations: readonly number[]) => {
  const ahead = lookAhead();
  for (const duration of durations) ahead.ended(duration);
  return ahead;
};

it('sends nothing ahead before the first call has ended', () => {
  expect(lookAhead().count).toBe(0);
});

it.each([
  [0, 16],
  [1, 16],
  [10, 10],
  [50, 2],
  [100, 1],
  [101, 0],
  [60_000, 0],
])('after a call of %i ms, sends %i calls ahead', (duration, count) => {
  expect(after(duration).count).toBe(count);
});

it('sends nothing ahead after one slow call among many fast ones, and more again after fast ones', () => {
  const ahead = after(1, 1, 1, 1_000);
  expect(ahead.count).toBe(0);
  for (let index = 0; index < 30; index++) ahead.ended(1);
  expect(ahead.count).toBe(16);
});

it('sends nothing ahead while the handler prints', () => {
  const ahead = after(1);
  ahead.printed();
  expect(ahead.count).toBe(0);
  for (let index = 0; index < 31; index++) ahead.ended(1);
  expect(ahead.count).toBe(0);
  ahead.ended(1);
  expect(ahead.count).toBe(16);
});
