import { describe, expect, it } from 'vitest';
import { deriveId } from '../../../lib/adapters/system/system.ts';
import { delayMsFromText } from '../../../lib/core/pipeline/delay-request.ts';
import { DELAY, DELAYED_TOPIC } from '../../../lib/core/pipeline/delayer.ts';
import {
  type DelayRules,
  MAX_PUBLISH_BYTES,
  MAX_TASK_BYTES,
  type MessageToDelay,
  planDelay,
  publishBody,
  refusedAttributes,
} from '../../../lib/core/pipeline/plan-delay.ts';
import { queueForTopic } from '../../../lib/core/pipeline/queue-mapping.ts';
import { utf8Bytes } from '../../../lib/core/text/utf8.ts';

const PUBLISHED = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

const RULES: DelayRules = {
  project: 'shop',
  queues: { byTopic: [], defaultQueue: 'q/default' },
  deriveId,
  countBytes: utf8Bytes,
};

function aMessage(changes: Partial<MessageToDelay> = {}): MessageToDelay {
  return {
    id: '1001',
    subscription: 'projects/shop/subscriptions/me-pubsub-delayer',
    dataBase64: 'eyJuIjoxfQ==',
    attributes: { [DELAY]: '1m32s', [DELAYED_TOPIC]: 'orders', eventTime: '2026-01-01T00:00:00Z' },
    publishMs: PUBLISHED,
    ...changes,
  };
}

const delayAttributes = (delay: string, topic = 'orders') => ({ [DELAY]: delay, [DELAYED_TOPIC]: topic });

describe('delayMsFromText', () => {
  it.each([
    ['1m32s', 92_000],
    ['500s', 500_000],
    ['12000ms', 12_000],
    ['1d12h', 36 * 3_600_000],
    ['1d', DAY_MS],
    ['30d', 30 * DAY_MS],
    ['0s', 0],
    ['0', 0],
    ['1.5s', 1_500],
    ['2d0.5s', 2 * DAY_MS + 500],
    ['720h', 30 * DAY_MS],
  ])('%s', (text, milliseconds) => expect(delayMsFromText(text)).toBe(milliseconds));

  it.each([
    '',
    'd',
    '1',
    '-1s',
    '1d-1s',
    '1h1d',
    '1 s',
    ' 1s',
    '1s\n',
    'soon',
    '1d1d',
    '9999999999d',
    '1.5d',
    'NaN',
  ])('rejects %j', (text) => expect(delayMsFromText(text)).toBeUndefined());
});

describe('planDelay', () => {
  it('returns a publication; the delay starts when the message was published', () => {
    const plan = planDelay(aMessage(), RULES);
    expect(plan).toEqual({
      kind: 'schedule',
      publication: {
        name: expect.stringMatching(/^[A-Za-z0-9_-]{1,500}$/),
        queue: 'q/default',
        dueMs: PUBLISHED + 92_000,
        topic: 'projects/shop/topics/orders',
        body: '{"messages":[{"data":"eyJuIjoxfQ==","attributes":{"eventTime":"2026-01-01T00:00:00Z"}}]}',
      },
    });
    expect(planDelay(aMessage(), RULES), 'delivered again').toEqual(plan);
  });

  it('derives the name from id, subscription and publish time', () => {
    const nameOf = (changes: Partial<MessageToDelay>) => {
      const plan = planDelay(aMessage(changes), RULES);
      return plan.kind === 'schedule' ? plan.publication.name : undefined;
    };
    const names = [
      nameOf({}),
      nameOf({ id: '1002' }),
      nameOf({ subscription: 'projects/shop/subscriptions/other' }),
      // A restarted emulator starts its ids at 1 again.
      nameOf({ publishMs: PUBLISHED + 60_000 }),
    ];
    expect(new Set(names).size).toBe(4);
  });

  it('publishes a message without data', () => {
    const plan = planDelay(aMessage({ dataBase64: '' }), RULES);
    expect(plan).toMatchObject({
      publication: { body: '{"messages":[{"attributes":{"eventTime":"2026-01-01T00:00:00Z"}}]}' },
    });
  });

  it('refuses a message with neither data nor attributes', () => {
    expect(planDelay(aMessage({ dataBase64: '', attributes: delayAttributes('1s') }), RULES)).toMatchObject({
      kind: 'refuse',
      reason: 'empty',
    });
    expect(planDelay(aMessage({ attributes: delayAttributes('1s') }), RULES)).toMatchObject({
      kind: 'schedule',
    });
  });

  it('accepts a topic of another project', () => {
    const attributes = delayAttributes('1s', 'projects/other-shop/topics/orders');
    expect(planDelay(aMessage({ attributes }), RULES)).toMatchObject({
      publication: { topic: 'projects/other-shop/topics/orders' },
    });
  });

  it('reports all problems at once', () => {
    expect(planDelay(aMessage({ attributes: { [DELAY]: 'soon' } }), RULES)).toEqual({
      kind: 'refuse',
      reason: 'unreadable',
      problem:
        'me-pubsub-delayer/delay is "soon"; expected a delay such as "1m32s", "500s", "12000ms" or "1d12h". ' +
        'me-pubsub-delayer/topic is missing; expected a topic name such as "orders" or "projects/my-project/topics/orders"',
    });
  });

  it.each([
    '',
    'ab',
    '1orders',
    'goog-orders',
    'or ders',
    'orders/x',
    'projects/p/topics/',
    'projects/p/topics/a/b',
    'x'.repeat(256),
  ])('refuses the topic %j', (topic) =>
    expect(planDelay(aMessage({ attributes: delayAttributes('1s', topic) }), RULES)).toMatchObject({
      kind: 'refuse',
      reason: 'unreadable',
    }),
  );

  it('refuses delays above 30 days', () => {
    expect(planDelay(aMessage({ attributes: delayAttributes('30d') }), RULES)).toMatchObject({
      kind: 'schedule',
    });
    expect(planDelay(aMessage({ attributes: delayAttributes('30d1ms') }), RULES)).toMatchObject({
      kind: 'refuse',
      reason: 'too-far-ahead',
      problem: expect.stringContaining('720h1ms'),
    });
  });

  it('refuses a message that is one byte too large for a task', () => {
    const roomFor = (dataBase64: string) =>
      planDelay(aMessage({ dataBase64, attributes: { ...delayAttributes('1s'), name: '\u00fc' } }), RULES);
    const empty = '{"messages":[{"data":"","attributes":{"name":"\u00fc"}}]}';
    const largest = 'A'.repeat(MAX_PUBLISH_BYTES - utf8Bytes(empty));
    expect(roomFor(largest)).toMatchObject({ kind: 'schedule' });
    expect(roomFor(`${largest}A`)).toMatchObject({
      kind: 'refuse',
      reason: 'too-large',
      problem: expect.stringContaining(`${MAX_PUBLISH_BYTES + 1} bytes`),
    });
    expect(MAX_PUBLISH_BYTES).toBeLessThan(MAX_TASK_BYTES);
  });
});

describe('refusedAttributes', () => {
  const refusal = { reason: 'unreadable', problem: 'x'.repeat(3_000) } as const;

  it('keeps every attribute and adds the reason', () => {
    const attributes = refusedAttributes(aMessage(), { reason: 'too-large', problem: 'takes too much' });
    expect(attributes).toEqual({
      ...aMessage().attributes,
      errorType: 'DelayRefused',
      errorMessage: 'takes too much',
      errorReason: 'too-large',
      errorMessageId: '1001',
      errorSubscription: 'projects/shop/subscriptions/me-pubsub-delayer',
    });
  });

  it("stays within Pub/Sub's limits for attributes", () => {
    const many = Object.fromEntries(Array.from({ length: 98 }, (_, index) => [`a${index}`, 'x']));
    const attributes = refusedAttributes(aMessage({ attributes: many }), refusal);
    expect(attributes).toMatchObject({ ...many, errorType: 'DelayRefused', errorMessage: 'x'.repeat(1024) });
    expect(Object.keys(attributes)).toHaveLength(100);
  });

  it('does not make a message larger than Pub/Sub allows', () => {
    for (const left of [0, 300, 700, 1_500]) {
      const one = aMessage();
      const dataBase64 = 'A'.repeat(10_000_001 - publishBody('A', one.attributes).length - left);
      const attributes = refusedAttributes({ ...one, dataBase64 }, refusal);
      expect(attributes).toMatchObject(one.attributes);
      expect(publishBody(dataBase64, attributes).length).toBeLessThanOrEqual(10_000_000);
    }
  });
});

describe('queueForTopic', () => {
  const mapping = {
    byTopic: [
      ['billing-*', 'q/billing'],
      ['billing-?', 'q/never'],
      ['billing-eu', 'q/exact'],
      ['projects/*/topics/audit', 'q/audit'],
      ['a.c', 'q/dot'],
    ],
    defaultQueue: 'q/default',
  } as const;
  it.each([
    ['projects/shop/topics/billing-eu', 'q/exact'],
    ['projects/shop/topics/billing-us', 'q/billing'],
    ['projects/shop/topics/billing-', 'q/billing'],
    ['projects/shop/topics/billing', 'q/default'],
    ['projects/shop/topics/x-billing-us', 'q/default'],
    ['projects/other/topics/billing-eu', 'q/default'],
    ['projects/other/topics/audit', 'q/audit'],
    ['projects/shop/topics/audit', 'q/audit'],
    ['projects/shop/topics/a.c', 'q/dot'],
    ['projects/shop/topics/abc', 'q/default'],
  ])('maps %s to %s', (topic, queue) => expect(queueForTopic(topic, 'shop', mapping)).toBe(queue));
});
