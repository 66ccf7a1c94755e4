import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyError } from '../../lib/error-handling/is-error-retriable.ts';
import type { PipelineMessage } from '../../lib/error-handling/message.ts';
import { withErrorHandling } from '../../lib/error-handling/with-error-handling.ts';
import { law } from '../core/law.ts';
import { aMessage, aPipeline, HOUR_MS, START } from './a-pipeline.ts';

const explode = (): never => {
  throw new Error('do not look at me');
};

/** Every trap throws, or only those that reading uses. */
const HOSTILE = {
  'a proxy that throws': () => new Proxy({}, { get: explode, getPrototypeOf: explode, has: explode }),
  'a proxy that is revoked': () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    return proxy;
  },
  'a proxy without end': () => {
    const proxy: object = new Proxy(new Error(), {
      get: (_, name) => (name === 'cause' ? endless() : proxy),
    });
    const endless = () => new Proxy({}, { get: (_, name) => (name === 'cause' ? endless() : undefined) });
    return proxy;
  },
  'prototypes without end': () => {
    const endless = (): object => new Proxy({}, { getPrototypeOf: endless });
    return endless();
  },
  'getters that throw': () =>
    Object.defineProperties(
      new Error(),
      Object.fromEntries(
        ['name', 'message', 'stack', 'cause', 'code', 'status', 'response', 'normal', 'constructor'].map(
          (name) => [name, { get: explode }],
        ),
      ),
    ),
  'a toJSON that throws': () => ({ toJSON: explode, toString: explode }),
  'errors that are revoked': () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    return { errors: proxy, stack: 7 };
  },
  'a cause of itself': () => {
    const error: Error = new Error('round');
    error.cause = error;
    return error;
  },
  'no prototype': () => Object.assign(Object.create(null), { status: 503 }),
} as const;

const FIELDS = ['status', 'code', 'name', 'message', 'stack', 'response', '$metadata', 'cause', 'normal'];
const values = fc.oneof(
  fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
  fc.constantFrom(404, 503, 400, '503', 'UNAVAILABLE', 'TopicPublishError', 14, true),
);
const anyThrown = fc.oneof(
  fc.record({ kind: fc.constant('anything' as const), thrown: fc.anything({ withBigInt: true }) }),
  fc.record({
    kind: fc.constant('an error with fields' as const),
    thrown: fc
      .dictionary(fc.constantFrom(...FIELDS), values)
      .map((fields) => Object.defineProperties(new Error('x'), Object.getOwnPropertyDescriptors(fields))),
  }),
  fc.constantFrom(...(Object.keys(HOSTILE) as (keyof typeof HOSTILE)[])).map((kind) => ({
    kind,
    thrown: HOSTILE[kind]() as unknown,
  })),
);

describe('whatever is thrown', () => {
  law(
    'it is classified, and never thrown again',
    anyThrown,
    ({ thrown }) => {
      const { fault, isNormal } = classifyError(thrown);
      expect(fault.type).not.toBe('');
      expect([typeof fault.type, typeof fault.message, typeof fault.traceback]).toEqual(
        Array(3).fill('string'),
      );
      expect(fault.mro.every((name) => typeof name === 'string')).toBe(true);
      if (fault.httpStatus !== undefined) expect(fault.httpStatus).toSatisfy((n) => n >= 400 && n <= 599);
      expect(typeof isNormal).toBe('boolean');
    },
    ({ kind }) => kind,
    ['anything', 'an error with fields', ...Object.keys(HOSTILE)],
  );
});

const STATUSES = [undefined, 400, 404, 410, 429, 500, 503];
const cases = fc.record({
  what: fc.oneof(
    anyThrown,
    fc.constantFrom(...STATUSES).map((status) => ({ thrown: Object.assign(new Error('x'), { status }) })),
    fc.constant({ thrown: Object.assign(new Error('x'), { name: 'ClientClosedError' }) }),
  ),
  attributes: fc.dictionary(
    fc.constantFrom('retryCount', 'eventTime', 'tenant', '__proto__', 'errorType'),
    fc.oneof(fc.string(), fc.constantFrom('0', '5', '6', '7', new Date(START).toISOString())),
  ),
  ageMs: fc.integer({ min: -HOUR_MS, max: 72 * HOUR_MS }),
  isAccepted: fc.boolean(),
});

describe('whatever happens', () => {
  it('it is acked if and only if everything that was published was accepted, and nothing is lost', async () => {
    const met = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(cases, async ({ what, attributes, ageMs, isAccepted }) => {
        const asked: unknown[] = [];
        const { options, facts } = aPipeline({
          publish: async (_topic, { data, attributes: sent }) => {
            asked.push(data);
            for (const name of Object.keys(attributes)) expect(Object.hasOwn(sent, name)).toBe(true);
            for (const value of Object.values(sent)) expect(typeof value).toBe('string');
            if (!isAccepted) throw new Error('no');
          },
        });
        const consume = withErrorHandling((_message: PipelineMessage<string>) => {
          throw what.thrown;
        }, options);
        const message = { ...aMessage(attributes), publishTime: START - ageMs };
        const handled = await consume(message);
        expect(handled.settle).toBe(asked.length === 0 || isAccepted ? 'ack' : 'nack');
        expect(asked.length).toBe(handled.action === 'drop' && !handled.escalate ? 0 : 1);
        expect(asked.every((data) => data === 'the data')).toBe(true);
        expect(facts.some(({ fact }) => fact === 'refused')).toBe(handled.settle === 'nack');
        const kind = `${handled.action} ${handled.settle}`;
        met.set(kind, (met.get(kind) ?? 0) + 1);
      }),
      { numRuns: 2_000, seed: 20_260_101 },
    );
    // A law that never meets the case it is about proves nothing.
    for (const action of ['retry', 'escalate', 'drop'])
      for (const settle of ['ack', 'nack'])
        expect(met.get(`${action} ${settle}`), `${action} ${settle}`).toBeGreaterThan(0);
  });
});
