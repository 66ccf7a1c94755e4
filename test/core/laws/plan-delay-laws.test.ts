import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { deriveId } from '../../../lib/adapters/system/system.ts';
import { DELAY, DELAYED_TOPIC, MAX_DELAY_MS } from '../../../lib/core/pipeline/delayer.ts';
import {
  type DelayRules,
  MAX_PUBLISH_BYTES,
  type MessageToDelay,
  planDelay,
  refusedAttributes,
} from '../../../lib/core/pipeline/plan-delay.ts';
import { durationText } from '../../../lib/core/text/duration.ts';
import { utf8Bytes } from '../../../lib/core/text/utf8.ts';
import { law } from '../law.ts';

const RULES: DelayRules = {
  project: 'shop',
  queues: { byTopic: [['slow-*', 'q/slow']], defaultQueue: 'q/default' },
  deriveId,
  countBytes: utf8Bytes,
};

const delay = fc.oneof(
  fc.integer({ min: 0, max: 40 * 86_400_000 }).map(durationText),
  fc.tuple(fc.nat(35), fc.nat(23)).map(([days, hours]) => `${days}d${hours}h`),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const topic = fc.oneof(
  fc.constantFrom('orders', 'slow-orders', 'projects/other/topics/orders', 'goog-x', ''),
  fc.string({ maxLength: 20 }),
);
const delayAttributes = fc.record({ [DELAY]: delay, [DELAYED_TOPIC]: topic }, { requiredKeys: [] });
const others = fc.dictionary(fc.string({ maxLength: 10 }), fc.string({ unit: 'binary', maxLength: 10 }), {
  maxKeys: 110,
  noNullPrototype: true,
});
const data = fc.oneof(
  fc.base64String({ maxLength: 40 }),
  fc
    .integer({ min: MAX_PUBLISH_BYTES - 200, max: MAX_PUBLISH_BYTES + 100 })
    .map((length) => 'A'.repeat(length)),
);

const message: fc.Arbitrary<MessageToDelay> = fc.record({
  id: fc.stringMatching(/^[0-9]{1,18}$/),
  subscription: fc.constantFrom('projects/shop/subscriptions/one', 'projects/shop/subscriptions/two'),
  dataBase64: fc.oneof(
    { weight: 20, arbitrary: fc.base64String({ maxLength: 40 }) },
    { weight: 1, arbitrary: data },
  ),
  attributes: fc
    .tuple(others, delayAttributes)
    .map(([kept, delay]) => ({ ...kept, ...delay }) as Record<string, string>),
  publishMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
});

const kindOf = (one: MessageToDelay) => {
  const plan = planDelay(one, RULES);
  return plan.kind === 'refuse' ? plan.reason : plan.kind;
};
const KINDS = ['schedule', 'unreadable', 'too-far-ahead', 'too-large'];

describe('the delayer', () => {
  law(
    'schedules only what Cloud Tasks accepts, and publishes everything except for the two delay attributes',
    message,
    (one) => {
      const plan = planDelay(one, RULES);
      expect(planDelay(one, RULES)).toEqual(plan);
      if (plan.kind !== 'schedule') return;
      const { name, dueMs, topic: to, body, queue } = plan.publication;
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,500}$/);
      expect(dueMs).toBeGreaterThanOrEqual(one.publishMs);
      expect(dueMs).toBeLessThanOrEqual(one.publishMs + MAX_DELAY_MS);
      expect(Number.isSafeInteger(dueMs)).toBe(true);
      expect(to).toMatch(/^projects\/[^/]+\/topics\/[^/]+$/);
      expect(queue).toBe(to === 'projects/shop/topics/slow-orders' ? 'q/slow' : 'q/default');
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_PUBLISH_BYTES);
      const [published] = JSON.parse(body).messages;
      const { [DELAY]: _delay, [DELAYED_TOPIC]: _topic, ...rest } = one.attributes;
      expect(published.attributes).toEqual(rest);
      expect(published.data ?? '').toBe(one.dataBase64);
    },
    kindOf,
    KINDS,
  );

  law(
    "keeps everything of a refused message in the errors topic, within Pub/Sub's limits",
    message,
    (one) => {
      const plan = planDelay(one, RULES);
      if (plan.kind !== 'refuse') return;
      expect(plan.problem).not.toBe('');
      const attributes = refusedAttributes(one, plan);
      const own = Object.keys(one.attributes).filter((name) => !name.startsWith('error'));
      for (const name of own) expect(attributes[name]).toBe(one.attributes[name]);
      expect(Object.keys(attributes).length).toBeLessThanOrEqual(
        Math.max(100, Object.keys(one.attributes).length),
      );
      for (const value of Object.values(attributes))
        expect(Buffer.byteLength(value)).toBeLessThanOrEqual(1024);
    },
    kindOf,
    KINDS,
  );
});
