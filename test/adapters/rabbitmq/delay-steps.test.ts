import fc from 'fast-check';
import { expect, it } from 'vitest';
import { delayStepMs } from '../../../lib/adapters/rabbitmq/delay-steps.ts';

it.each([
  [1, 100],
  [100, 100],
  [101, 110],
  [300, 300],
  [310, 320],
  [1_100, 1_100],
  [1_101, 1_200],
  [2_500, 2_600],
  [9_999, 10_000],
  [30_000, 30_000],
  [90_001, 95_000],
  [3_600_000, 3_600_000],
  [86_400_000, 90_000_000],
])('a delay of %i ms uses the queue of %i ms', (delayMs, stepMs) => {
  expect(delayStepMs(delayMs)).toBe(stepMs);
});

it('the step is never shorter than the delay, and at most a tenth longer', () => {
  fc.assert(
    fc.property(fc.double({ min: 0.001, max: 86_400_000, noNaN: true }), (delayMs) => {
      const stepMs = delayStepMs(delayMs);
      expect(Number.isInteger(stepMs)).toBe(true);
      expect(stepMs).toBeGreaterThanOrEqual(delayMs);
      expect(stepMs).toBeLessThanOrEqual(Math.max(100, Math.ceil(delayMs) * 1.1));
      expect(delayStepMs(stepMs)).toBe(stepMs);
    }),
    { seed: 20_260_101 },
  );
});

it('delays with jitter share a few queues', () => {
  const jittered = Array.from({ length: 1_000 }, (_, n) => delayStepMs(30_000 * (1 + n / 10_000)));
  expect(new Set(jittered).size).toBe(3);
});
