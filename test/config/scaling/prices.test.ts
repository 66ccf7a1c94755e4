import { describe, expect, it } from 'vitest';
import { dollarsFor, dollarsOf, PRICED_UNITS, PRICES } from '../../../lib/config/scaling/prices.ts';

describe('prices', () => {
  it('prices one unit', () => {
    expect(dollarsFor('sqsRequests', 2_500_000)).toBeCloseTo(1);
    expect(dollarsFor('s3Puts', 1000)).toBeCloseTo(0.005);
  });

  it('adds up all units of a usage', () => {
    const usage = { sqsRequests: 1_000_000, dynamodbWrites: 2_000_000, logGb: 3 };
    expect(dollarsOf(usage)).toBeCloseTo(0.4 + 1.25 + 1.5);
    expect(dollarsOf({})).toBe(0);
  });

  it('has a positive price for every unit', () => {
    for (const unit of PRICED_UNITS) {
      expect(PRICES[unit].dollars, unit).toBeGreaterThan(0);
      expect(PRICES[unit].per, unit).toBeGreaterThan(0);
    }
  });
});
