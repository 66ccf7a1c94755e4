import { describe, expect, it } from 'vitest';
import { asNormal, httpError, topicPublishError } from '../../lib/error-handling/errors.ts';
import { HOUR_MS, liveOut } from './a-pipeline.ts';

const SCHEDULE = [1, 1, 2, 3, 7, 30];
/** One for all calls of a long outage: what takes time there is to write out the stacks of ten thousand. */
const DOWN = httpError(503, 'down');

describe('in virtual time', () => {
  it('the six delays, and then an end', async () => {
    const life = await liveOut(() => {
      throw topicPublishError('invoices');
    });
    expect(life.delaysSeconds).toEqual(SCHEDULE);
    expect(life.ageMs).toBe(44_000);
    expect(life.facts.map(({ fact }) => fact)).toEqual([
      ...SCHEDULE.map(() => 'retried'),
      'escalated',
      'dropped',
    ]);
  });

  it('a service that comes back after an hour', async () => {
    const life = await liveOut((_call, ageMs) => {
      if (ageMs < HOUR_MS) throw DOWN;
    });
    expect(life.ageMs).toBeGreaterThanOrEqual(HOUR_MS);
    expect(life.ageMs).toBeLessThan(HOUR_MS + 31_000);
    expect(life.facts.at(-1)).toMatchObject({ fact: 'success' });
  });

  it('an outage of two days ends in expiry after 36 hours, and not before', async () => {
    const life = await liveOut((_call, ageMs) => {
      if (ageMs < 48 * HOUR_MS) throw DOWN;
    });
    expect(life.ageMs).toBeGreaterThan(36 * HOUR_MS);
    expect(life.ageMs - (life.delaysSeconds.at(-1) ?? 0) * 1000).toBeLessThanOrEqual(36 * HOUR_MS);
    expect(life.delaysSeconds).toEqual(life.delaysSeconds.map((_, index) => SCHEDULE[index % 6]));
    expect(life.facts.slice(-2)).toMatchObject([
      { fact: 'escalated', reason: 'expired' },
      { fact: 'dropped', reason: 'expired', ageMs: life.ageMs },
    ]);
    const last = life.published.at(-1);
    expect(last).toMatchObject({
      topic: 'sending-mg-errors',
      data: 'the data',
      attributes: { eventTime: '2026-01-01T00:00:00Z', errorReason: 'expired', errorHttpStatus: '503' },
    });
    expect(life.published.filter(({ topic }) => topic === 'sending-mg-errors')).toHaveLength(1);
  });

  it('the same outage, where it is normal, ends without a word to the errors topic', async () => {
    const down = asNormal(httpError(503, 'down'));
    const life = await liveOut(() => {
      throw down;
    });
    expect(life.ageMs).toBeGreaterThan(36 * HOUR_MS);
    expect(new Set(life.published.map(({ topic }) => topic))).toEqual(new Set(['me-pubsub-delayer']));
  });

  it('404 is dropped and 400 escalated once, each at its first call', async () => {
    const gone = await liveOut(() => {
      throw httpError(404, 'gone');
    });
    expect(gone).toMatchObject({ calls: 1, published: [], facts: [{ fact: 'dropped' }] });
    const bad = await liveOut(() => {
      throw httpError(400, 'bad');
    });
    expect(bad).toMatchObject({ calls: 1, facts: [{ fact: 'escalated' }] });
    expect(bad.published).toHaveLength(1);
  });

  it('an error that changes on the way: each one by its own rule', async () => {
    const life = await liveOut((call) => {
      throw call < 4 ? httpError(503, 'down') : httpError(400, 'bad');
    });
    expect(life.delaysSeconds).toEqual([1, 1, 2]);
    expect(life.facts.at(-1)).toMatchObject({ fact: 'escalated', retryCount: 3 });
  });
});
