import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyError } from '../../lib/error-handling/is-error-retriable.ts';
import type { PipelineMessage } from '../../lib/error-handling/message.ts';
import { withErrorHandling } from '../../lib/error-handling/with-error-handling.ts';
import { law } from '../core/law.ts';
import { aMessage, aPipeline, HOUR_MS, START } from './a-pipeline.ts';

const explode = (): never => {
  throw new Error('this property must not be read');
};

/** Values that throw when they are read, or that never end. */
const HOSTILE = {
  'a proxy that throws': () => new Proxy({}, { get: explode, getPrototypeOf: explode, has: explode }),
  'a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    return proxy;
  },
  'an endless chain of causes': () => {
    const proxy: object = new Proxy(new Error(), {
      get: (_, name) => (name === 'cause' ? endless() : proxy),
    });
    const endless = () => new Proxy({}, { get: (_, name) => (name === 'cause' ? endless() : undefined) });
    return proxy;
  },
  'an endless chain of prototypes': () => {
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
  'a revoked list of errors': () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    return { errors: proxy, stack: 7 };
  },
  'an error that is its own cause': () => {
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

describe('any thrown value', () => {
  law(
    'is classified without an exception',
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
  error: fc.oneof(
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

describe('any failure', () => {
  it('is acknowledged if and only if every publish was accepted, and no message is lost', async () => {
    const counts = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(cases, async ({ error: { thrown }, attributes, ageMs, isAccepted }) => {
        const publishedData: unknown[] = [];
        const { options, facts } = aPipeline({
          publish: async (_topic, { data, attributes: sent }) => {
            publishedData.push(data);
            for (const name of Object.keys(attributes)) expect(Object.hasOwn(sent, name)).toBe(true);
            for (const value of Object.values(sent)) expect(typeof value).toBe('string');
            if (!isAccepted) throw new Error('no');
          },
        });
        const consume = withErrorHandling((_message: PipelineMessage<string>) => {
          throw thrown;
        }, options);
        const message = { ...aMessage(attributes), publishTime: START - ageMs };
        const handled = await consume(message);
        expect(handled.settle).toBe(publishedData.length === 0 || isAccepted ? 'ack' : 'nack');
        expect(publishedData.length).toBe(handled.action === 'drop' && !handled.escalate ? 0 : 1);
        expect(publishedData.every((data) => data === 'the data')).toBe(true);
        expect(facts.some(({ fact }) => fact === 'refused')).toBe(handled.settle === 'nack');
        const kind = `${handled.action} ${handled.settle}`;
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }),
      { numRuns: 2_000, seed: 20_260_101 },
    );
    // The test proves something about a combination only if it occurred.
    for (const action of ['retry', 'escalate', 'drop'])
      for (const settle of ['ack', 'nack'])
        expect(counts.get(`${action} ${settle}`), `${action} ${settle}`).toBeGreaterThan(0);
  });
});
