import { describe, expect, it } from 'vitest';
import { asNormal, httpError, topicPublishError } from '../../lib/error-handling/errors.ts';
import { HOUR_MS, runToEnd } from './a-pipeline.ts';

const SCHEDULE = [1, 1, 2, 3, 7, 30];
/** One error for all calls of a long outage, because ten thousand stack traces would make the test slow. */
const DOWN = httpError(503, 'down');

describe('retries in virtual time', () => {
  it('makes six retries, then expires a client error', async () => {
    const history = await runToEnd(() => {
      throw topicPublishError('invoices');
    });
    expect(history.delaysSeconds).toEqual(SCHEDULE);
    expect(history.ageMs).toBe(44_000);
    expect(history.facts.map(({ fact }) => fact)).toEqual([
      ...SCHEDULE.map(() => 'retried'),
      'escalated',
      'dropped',
    ]);
  });

  it('succeeds when the service recovers after an hour', async () => {
    const history = await runToEnd((_call, ageMs) => {
      if (ageMs < HOUR_MS) throw DOWN;
    });
    expect(history.ageMs).toBeGreaterThanOrEqual(HOUR_MS);
    expect(history.ageMs).toBeLessThan(HOUR_MS + 31_000);
    expect(history.facts.at(-1)).toMatchObject({ fact: 'success' });
  });

  it('retries during an outage of two days until the message expires after 36 hours', async () => {
    const history = await runToEnd((_call, ageMs) => {
      if (ageMs < 48 * HOUR_MS) throw DOWN;
    });
    expect(history.ageMs).toBeGreaterThan(36 * HOUR_MS);
    expect(history.ageMs - (history.delaysSeconds.at(-1) ?? 0) * 1000).toBeLessThanOrEqual(36 * HOUR_MS);
    expect(history.delaysSeconds).toEqual(history.delaysSeconds.map((_, index) => SCHEDULE[index % 6]));
    expect(history.facts.slice(-2)).toMatchObject([
      { fact: 'escalated', reason: 'expired' },
      { fact: 'dropped', reason: 'expired', ageMs: history.ageMs },
    ]);
    const last = history.published.at(-1);
    expect(last).toMatchObject({
      topic: 'sending-mg-errors',
      data: 'the data',
      attributes: { eventTime: '2026-01-01T00:00:00Z', errorReason: 'expired', errorHttpStatus: '503' },
    });
    expect(history.published.filter(({ topic }) => topic === 'sending-mg-errors')).toHaveLength(1);
  });

  it('publishes nothing to the errors topic when a message with a normal error expires', async () => {
    const down = asNormal(httpError(503, 'down'));
    const history = await runToEnd(() => {
      throw down;
    });
    expect(history.ageMs).toBeGreaterThan(36 * HOUR_MS);
    expect(new Set(history.published.map(({ topic }) => topic))).toEqual(new Set(['me-pubsub-delayer']));
  });

  it('drops after 404 and escalates after 400, without a retry', async () => {
    const gone = await runToEnd(() => {
      throw httpError(404, 'gone');
    });
    expect(gone).toMatchObject({ calls: 1, published: [], facts: [{ fact: 'dropped' }] });
    const bad = await runToEnd(() => {
      throw httpError(400, 'bad');
    });
    expect(bad).toMatchObject({ calls: 1, facts: [{ fact: 'escalated' }] });
    expect(bad.published).toHaveLength(1);
  });

  it('applies the rule of the latest error when errors change between retries', async () => {
    const history = await runToEnd((call) => {
      throw call < 4 ? httpError(503, 'down') : httpError(400, 'bad');
    });
    expect(history.delaysSeconds).toEqual([1, 1, 2]);
    expect(history.facts.at(-1)).toMatchObject({ fact: 'escalated', retryCount: 3 });
  });
});
