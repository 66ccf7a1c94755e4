import { describe, expect, it } from 'vitest';
import {
  DEFAULT_ERRORS_TOPIC,
  decidePipeline,
  isClientRetryable,
  PIPELINE_DEFAULTS,
  pipelinePolicy,
} from '../../../lib/core/pipeline/pipeline.ts';
import { defined } from '../../../lib/core/text/defined.ts';

const NOW = Date.UTC(2026, 0, 10);
const HOUR = 3_600_000;

interface Case {
  readonly type?: string;
  readonly http?: number;
  readonly count?: number;
  readonly ageMs?: number;
  readonly normal?: boolean;
}

function decided(
  { type = 'Odd', http, count = 0, ageMs = 0, normal = false }: Case,
  settings = PIPELINE_DEFAULTS,
) {
  return decidePipeline(
    {
      fault: { type, mro: [], ...defined({ httpStatus: http }) },
      isNormal: normal,
      retryCount: count,
      eventMs: NOW - ageMs,
      now: NOW,
    },
    settings,
  );
}

const HTTP_RETRIABLE = [423, 429, 500, 502, 503, 504];
const TYPES_RETRIABLE = ['TopicPublishError', 'ClientClosedError'];
const RETRIABLE: readonly Case[] = [
  ...HTTP_RETRIABLE.map((http) => ({ http })),
  ...TYPES_RETRIABLE.map((type) => ({ type })),
];

describe('the presets', () => {
  it('are the documented ones', () => {
    expect(PIPELINE_DEFAULTS).toEqual({ delaysSeconds: [1, 1, 2, 3, 7, 30], expireAfterHours: 36 });
    expect(DEFAULT_ERRORS_TOPIC).toBe('sending-mg-errors');
  });

  it('compile to a policy of the mesh', () => {
    expect(pipelinePolicy({ delaysSeconds: [1, 2.5], expireAfterHours: 2 })).toEqual({
      maxAttempts: Number.POSITIVE_INFINITY,
      backoff: { kind: 'schedule', delaysMs: [1_000, 2_500] },
      expireAfterMs: 7_200_000,
      jitter: false,
      onExhausted: { action: 'drop' },
      exhaustedReason: 'PolicyExhausted',
    });
  });
});

describe('a retryable error', () => {
  it.each(RETRIABLE)('%j is retried after each delay of the schedule', (error) => {
    const delays = [0, 1, 2, 3, 4, 5].map((count) => decided({ ...error, count }));
    expect(delays).toEqual(
      [1, 1, 2, 3, 7, 30].map((delaySeconds, count) => ({
        action: 'retry',
        delaySeconds,
        nextCount: count + 1,
      })),
    );
  });

  it.each(HTTP_RETRIABLE)('HTTP %d restarts the schedule after the last delay', (http) => {
    for (const count of [6, 7, 100]) {
      expect(decided({ http, count })).toEqual({ action: 'retry', delaySeconds: 1, nextCount: 1 });
    }
  });

  it.each(TYPES_RETRIABLE)('%s expires after the last delay', (type) => {
    expect(decided({ type, count: 6 })).toEqual({ action: 'drop', escalate: true, expired: true });
    expect(decided({ type, count: 6, normal: true })).toEqual({
      action: 'drop',
      escalate: false,
      expired: true,
    });
  });

  it('is recognized by the last part of its name and by an ancestor', () => {
    expect(decided({ type: 'pubsub.TopicPublishError' }).action).toBe('retry');
    const fault = { type: 'Odd', mro: ['ClientClosedError'] };
    const happened = { fault, isNormal: false, retryCount: 0, eventMs: NOW, now: NOW };
    expect(decidePipeline(happened, PIPELINE_DEFAULTS).action).toBe('retry');
  });

  it('isClientRetryable uses the name only', () => {
    for (const type of TYPES_RETRIABLE) expect(isClientRetryable({ type, mro: [] })).toBe(true);
    expect(isClientRetryable({ type: 'Odd', mro: ['ClientClosedError'] })).toBe(true);
    expect(isClientRetryable({ type: 'Odd', mro: [], httpStatus: 503 })).toBe(false);
  });

  it('expires with an empty schedule', () => {
    const settings = { delaysSeconds: [], expireAfterHours: 36 };
    for (const error of RETRIABLE) {
      expect(decided(error, settings)).toEqual({ action: 'drop', escalate: true, expired: true });
    }
  });

  it.each([-1, -7])('treats a count of %d as 0', (count) => {
    expect(decided({ http: 503, count })).toEqual({ action: 'retry', delaySeconds: 1, nextCount: 1 });
  });

  it('uses a configured schedule', () => {
    const settings = { delaysSeconds: [5, 0.5], expireAfterHours: 36 };
    expect(decided({ http: 503 }, settings)).toEqual({ action: 'retry', delaySeconds: 5, nextCount: 1 });
    expect(decided({ http: 503, count: 1 }, settings)).toEqual({
      action: 'retry',
      delaySeconds: 0.5,
      nextCount: 2,
    });
    expect(decided({ http: 503, count: 2 }, settings)).toEqual({
      action: 'retry',
      delaySeconds: 5,
      nextCount: 1,
    });
    expect(decided({ type: 'ClientClosedError', count: 2 }, settings).action).toBe('drop');
  });
});

describe('a permanent error is dropped without escalation', () => {
  it.each([404, 410])('HTTP %d, of any age', (http) => {
    expect(decided({ http })).toEqual({ action: 'drop', escalate: false });
    expect(decided({ http, ageMs: 99 * HOUR, count: 9 })).toEqual({ action: 'drop', escalate: false });
    expect(decided({ http, type: 'TopicPublishError' })).toEqual({ action: 'drop', escalate: false });
  });
});

describe('a message that is too old expires', () => {
  it.each([...RETRIABLE, { type: 'Odd' }])('%j', (error) => {
    expect(decided({ ...error, ageMs: 36 * HOUR + 1 })).toEqual({
      action: 'drop',
      escalate: true,
      expired: true,
    });
    expect(decided({ ...error, ageMs: 36 * HOUR + 1, normal: true })).toEqual({
      action: 'drop',
      escalate: false,
      expired: true,
    });
  });

  it('does not expire at exactly 36 hours', () => {
    expect(decided({ http: 503, ageMs: 36 * HOUR }).action).toBe('retry');
    expect(decided({ ageMs: 36 * HOUR }).action).toBe('escalate');
  });

  it('uses a configured age', () => {
    const settings = { ...PIPELINE_DEFAULTS, expireAfterHours: 1 };
    expect(decided({ http: 503, ageMs: HOUR }, settings).action).toBe('retry');
    expect(decided({ http: 503, ageMs: HOUR + 1 }, settings)).toMatchObject({
      action: 'drop',
      expired: true,
    });
  });
});

describe('any other error is escalated, with any count', () => {
  it.each([
    [{}],
    [{ count: 6 }],
    [{ count: 99 }],
    [{ normal: true }],
    [{ http: 400 }],
    [{ http: 403 }],
    [{ http: 422 }],
    [{ http: 501 }],
    [{ http: 505 }],
    [{ type: 'TopicPublish' }],
    [{ type: 'ClientClosedErrors' }],
  ])('%j', (error) => {
    expect(decided(error)).toEqual({ action: 'escalate' });
  });
});
