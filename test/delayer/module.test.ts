import { describe, expect, it } from 'vitest';
import { httpError, topicPublishError } from '../../lib/error-handling/errors.ts';
import { DEFAULT_SETTINGS } from '../../lib/error-handling/policy.ts';
import { aVirtualPipeline } from './a-virtual-pipeline.ts';

/** The error module, the delayer and its timer file together, in virtual time. */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('the error module with the delayer', () => {
  it.each([1, 3])('retries after each of the six delays (deliveries per message: %i)', async (deliveries) => {
    const pipeline = await aVirtualPipeline(
      () => {
        throw topicPublishError('invoices');
      },
      { deliveries },
    );
    pipeline.publish('the data', { customer: '7' });
    await pipeline.stage.clock.passUntil(() => pipeline.errors.length > 0);
    await pipeline.stage.clock.pass(HOUR_MS);
    expect(pipeline.consumed.map(({ atMs }) => (atMs - pipeline.startMs) / 1000)).toEqual([
      0, 1, 2, 4, 7, 14, 44,
    ]);
    expect(pipeline.errors).toHaveLength(1);
    const attributes = { customer: '7', retryCount: '6', eventTime: '2026-01-01T00:00:00Z' };
    expect(pipeline.consumed.at(-1)).toMatchObject({ attributes, data: 'the data' });
    expect(Object.keys(pipeline.consumed.at(-1)?.attributes ?? {}).sort()).toEqual(
      Object.keys(attributes).sort(),
    );
    expect(pipeline.delayed.filter((fact) => fact.fact === 'scheduled' && fact.isNew)).toHaveLength(6);
    expect(pipeline.delayed).toHaveLength(6 * deliveries);
  });

  it('keeps a delay of 29 days if the timer file is reopened meanwhile', async () => {
    const settings = { ...DEFAULT_SETTINGS, delaysSeconds: [29 * 86_400], expireAfterHours: 40 * 24 };
    const pipeline = await aVirtualPipeline(
      (call) => {
        if (call === 1) throw httpError(503, 'down');
      },
      { settings },
    );
    pipeline.publish('the data');
    await pipeline.stage.clock.pass(10 * DAY_MS);
    await pipeline.stage.open();
    await pipeline.stage.clock.pass(19 * DAY_MS - 1);
    expect(pipeline.consumed).toHaveLength(1);
    await pipeline.stage.clock.pass(1);
    expect(pipeline.consumed).toHaveLength(2);
    expect(pipeline.facts.at(-1)).toMatchObject({ fact: 'success' });
  });

  it('retries during an outage of two days until the message expires after 36 hours', {
    timeout: 300_000,
  }, async () => {
    // Longer than the default delays, which would cause 18,000 disk writes here.
    const settings = { ...DEFAULT_SETTINGS, delaysSeconds: [60, 60, 120, 180, 420, 1_800] };
    const pipeline = await aVirtualPipeline(
      (_call, ageMs) => {
        if (ageMs < 2 * DAY_MS) throw httpError(503, 'down');
      },
      { settings },
    );
    pipeline.publish('the data');
    await pipeline.stage.clock.passUntil(() => pipeline.errors.length > 0, 2 * DAY_MS);
    await pipeline.stage.clock.pass(2 * DAY_MS);
    const ages = pipeline.consumed.map(({ atMs }) => atMs - pipeline.startMs);
    expect(ages.at(-1)).toBeGreaterThan(36 * HOUR_MS);
    expect(ages.at(-2)).toBeLessThanOrEqual(36 * HOUR_MS);
    const gaps = ages.slice(1).map((age, index) => (age - (ages[index] ?? 0)) / 1000);
    for (const [index, gap] of gaps.entries()) expect(gap).toBe(settings.delaysSeconds[index % 6]);
    expect(pipeline.errors).toMatchObject([
      { attributes: { errorReason: 'expired', errorHttpStatus: '503' } },
    ]);
    expect(pipeline.facts.at(-1)).toMatchObject({ fact: 'dropped', reason: 'expired' });
  });

  it('drops after 404 and escalates after 400, without a delay', async () => {
    const pipeline = await aVirtualPipeline((call) => {
      throw call === 1 ? httpError(404, 'gone') : httpError(400, 'bad');
    });
    pipeline.publish('gone');
    await pipeline.stage.clock.pass(DAY_MS);
    expect(pipeline.errors).toEqual([]);
    pipeline.publish('bad');
    await pipeline.stage.clock.pass(DAY_MS);
    expect(pipeline.errors).toMatchObject([{ data: 'bad', attributes: { errorReason: 'escalated' } }]);
    expect(pipeline.delayed).toEqual([]);
    expect(pipeline.consumed).toHaveLength(2);
  });
});
