import { describe, expect, it } from 'vitest';
import { asNormal, httpError, topicPublishError } from '../../lib/error-handling/errors.ts';
import { handleFailure } from '../../lib/error-handling/handle-failure.ts';
import type { PipelineMessage } from '../../lib/error-handling/message.ts';
import { withErrorHandling } from '../../lib/error-handling/with-error-handling.ts';
import type { PublishedMessage } from '../../lib/ports/publish.ts';
import { aMessage, aPipeline, HOUR_MS, START } from './a-pipeline.ts';

const OLD = { eventTime: new Date(START - 37 * HOUR_MS).toISOString() };
const TRACE = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b' };

describe('a handler that succeeds', () => {
  it('has its message acked, and nothing published', async () => {
    const { options, published, facts } = aPipeline();
    const consume = withErrorHandling(async ({ data }: PipelineMessage<string>) => data.length, options);
    expect(await consume(aMessage())).toEqual({ settle: 'ack', action: 'done', result: 8 });
    expect(published).toEqual([]);
    expect(facts).toEqual([{ fact: 'success', messageId: 'm-1' }]);
  });
});

/** As protocol buffers write it, without the topic's name. */
function requestBytes({ data, attributes }: PublishedMessage<Uint8Array | string>): number {
  const lengths = Object.entries(attributes).map(([name, value]) => 9 + Buffer.byteLength(name + value));
  return data.length + lengths.reduce((sum, length) => sum + length, 0);
}

describe('the order of the questions', () => {
  it.each([
    ['permanent comes before expired', httpError(404, 'x'), OLD, { action: 'drop', escalate: false }],
    ['permanent, whatever its count', httpError(410, 'x'), { retryCount: '99' }, { action: 'drop' }],
    ['expired comes before retriable', httpError(503, 'x'), OLD, { action: 'drop', expired: true }],
    ['expired comes before escalation', httpError(400, 'x'), OLD, { action: 'drop', escalate: true }],
    ['a delay is left', topicPublishError('x'), { retryCount: '5' }, { action: 'retry', delaySeconds: 30 }],
    ['a service begins again', httpError(503, 'x'), { retryCount: '6' }, { action: 'retry', nextCount: 1 }],
    ['a client has expired', topicPublishError('x'), { retryCount: '6' }, { action: 'drop', escalate: true }],
    ['anything else is escalated', new Error('x'), { retryCount: '99' }, { action: 'escalate' }],
  ])('%s', async (_rule, thrown, attributes: Record<string, string>, expected) => {
    const { options } = aPipeline();
    expect(await handleFailure(thrown, aMessage(attributes), options)).toMatchObject({
      settle: 'ack',
      ...expected,
    });
  });
});

describe('a retry', () => {
  it('goes to the delayer with the data, the attributes and one more on the count', async () => {
    const { options, published, facts, pass } = aPipeline();
    pass(2_000);
    const message = aMessage({ ...TRACE, tenant: 'a', retryCount: '2' });
    await handleFailure(httpError(503, 'down'), message, options);
    expect(published).toEqual([
      {
        topic: 'me-pubsub-delayer',
        atMs: START + 2_000,
        data: 'the data',
        attributes: {
          ...TRACE,
          tenant: 'a',
          retryCount: '3',
          eventTime: '2026-01-01T00:00:00Z',
          'me-pubsub-delayer/delay': '2s',
          'me-pubsub-delayer/topic': 'orders',
        },
      },
    ]);
    expect(facts).toEqual([
      {
        fact: 'retried',
        messageId: 'm-1',
        retryCount: 2,
        ageMs: 2_000,
        errorType: 'HttpError',
        errorMessage: 'down',
        httpStatus: 503,
        delaySeconds: 2,
      },
    ]);
  });

  it('keeps the event time as it was written, and sets one where none can be read', async () => {
    const { options, published } = aPipeline();
    const eventTime = '2025-12-31T23:00:00.000+01:00';
    await handleFailure(httpError(503, 'x'), aMessage({ eventTime }), options);
    await handleFailure(httpError(503, 'x'), aMessage({ eventTime: 'yesterday' }), options);
    await handleFailure(httpError(503, 'x'), { id: 'm', data: 'd', publishTime: START - 500 }, options);
    await handleFailure(httpError(503, 'x'), { id: 'm', data: 'd', publishTime: new Date('no') }, options);
    await handleFailure(httpError(503, 'x'), { id: 'm', data: 'd' }, options);
    expect(published.map(({ attributes }) => attributes['eventTime'])).toEqual([
      eventTime,
      '2026-01-01T00:00:00Z',
      '2025-12-31T23:59:59.5Z',
      '2026-01-01T00:00:00Z',
      '2026-01-01T00:00:00Z',
    ]);
  });

  it.each(['', 'x', '-1', '1.5', '9'.repeat(400)])('takes a count of %j as none', async (retryCount) => {
    const { options } = aPipeline();
    const failed = await handleFailure(topicPublishError('x'), aMessage({ retryCount }), options);
    expect(failed).toMatchObject({ retryCount: 0, nextCount: 1 });
  });

  it('writes delays that are no whole seconds, and asks the delayer that it is told', async () => {
    const settings = { delaysSeconds: [0.25, 93.5], expireAfterHours: 36, errorsTopic: 'errors' };
    const { options, to } = aPipeline({ settings, delayerTopic: 'slow-lane' });
    await handleFailure(httpError(503, 'x'), aMessage(), options);
    await handleFailure(httpError(503, 'x'), aMessage({ retryCount: '1' }), options);
    expect(to('slow-lane').map(({ attributes }) => attributes['me-pubsub-delayer/delay'])).toEqual([
      '250ms',
      '1m33s500ms',
    ]);
  });
});

describe('a retry of what no delayer carries', () => {
  it.each([
    ['text', 'é'.repeat(370_001), 'ü'.repeat(370_000)],
    ['bytes', Buffer.alloc(740_001), Buffer.alloc(740_000)],
  ])('is escalated at once, with the error (%s)', async (_what, tooLarge, largest) => {
    const { options, facts } = aPipeline();
    const to: string[] = [];
    const publish = async (topic: string) => to.push(topic);
    const message = { ...aMessage({ retryCount: '2' }), data: tooLarge };
    const failed = await handleFailure(httpError(503, 'down'), message, { ...options, publish });
    expect(failed).toMatchObject({ settle: 'ack', action: 'escalate', retryCount: 2 });
    await handleFailure(httpError(503, 'down'), { ...message, data: largest }, { ...options, publish });
    expect(to).toEqual(['sending-mg-errors', 'me-pubsub-delayer']);
    expect(facts.map(({ fact }) => fact)).toEqual(['escalated', 'retried']);
  });
});

describe('an escalation', () => {
  it('carries the original, the error, the count and the trace', async () => {
    const { options, published, facts } = aPipeline();
    const delayed = { 'me-pubsub-delayer/delay': '1s', 'me-pubsub-delayer/topic': 'orders' };
    const message = aMessage({ ...TRACE, ...delayed, tenant: 'a', retryCount: '4' });
    expect(await handleFailure(httpError(400, 'no order'), message, options)).toMatchObject({
      settle: 'ack',
      action: 'escalate',
    });
    expect(published).toEqual([
      {
        topic: 'sending-mg-errors',
        atMs: START,
        data: 'the data',
        attributes: {
          ...TRACE,
          tenant: 'a',
          retryCount: '4',
          eventTime: '2026-01-01T00:00:00Z',
          errorType: 'HttpError',
          errorMessage: 'no order',
          errorReason: 'escalated',
          errorTopic: 'orders',
          errorMessageId: 'm-1',
          errorHttpStatus: '400',
          errorTraceback: expect.stringMatching(/^HttpError: no order\n/),
        },
      },
    ]);
    expect(facts).toMatchObject([{ fact: 'escalated', reason: 'escalated', retryCount: 4 }]);
  });

  it("keeps within the broker's limits: the error gives way, the original never", async () => {
    const { options, published } = aPipeline();
    const many = Object.fromEntries(Array.from({ length: 96 }, (_, index) => [`a${index}`, 'é']));
    const thrown = Object.assign(new Error('é'.repeat(5_000)), { stack: 's'.repeat(5_000) });
    await handleFailure(thrown, aMessage({ ...many, retryCount: '1' }), options);
    const attributes = published[0]?.attributes ?? {};
    expect(Object.keys(attributes)).toHaveLength(100);
    expect(attributes).toMatchObject({ ...many, retryCount: '1', errorType: 'Error' });
    expect(attributes).not.toHaveProperty('errorTraceback');
    for (const value of Object.values(attributes)) expect(Buffer.byteLength(value)).toBeLessThanOrEqual(1024);
    await handleFailure(thrown, aMessage(), options);
    expect(Buffer.byteLength(published[1]?.attributes['errorTraceback'] ?? '')).toBeLessThanOrEqual(1024);
  });

  it.each([
    ['as it is documented', 10_000_000],
    ['as the service names it', 10 * 1024 * 1024],
  ])(
    'of what is nearly as large as the broker takes (%s) is taken, with what fits',
    async (_limit, limit) => {
      const thrown = Object.assign(new Error('é'.repeat(600)), { stack: 's'.repeat(1_200) });
      const kept = { ...TRACE, retryCount: '1', eventTime: '2026-01-01T00:00:00Z' };
      const told: string[][] = [];
      for (const left of [0, 100, 600, 1_000, 3_000]) {
        const size = limit - 64 - requestBytes({ data: '', attributes: kept }) - left;
        const taken: PublishedMessage<Uint8Array>[] = [];
        const { clock, settings, topic, onFact } = aPipeline().options;
        const publish = async (_topic: string, message: PublishedMessage<Uint8Array>) => {
          if (64 + requestBytes(message) > limit)
            throw httpError(400, 'Request payload size exceeds the limit');
          return taken.push(message);
        };
        const message = { id: 'm-1', data: Buffer.alloc(size), attributes: kept };
        const options = { clock, settings, topic, onFact, publish };
        expect(await handleFailure(thrown, message, options)).toMatchObject({ settle: 'ack' });
        expect(taken[0]?.data).toBe(message.data);
        expect(taken[0]?.attributes).toMatchObject(kept);
        told.push(Object.keys(taken[0]?.attributes ?? {}).filter((name) => !Object.hasOwn(kept, name)));
        // The traceback gives way first.
        if (left < 6_000 && taken[0]?.attributes['errorTraceback'] !== undefined)
          expect(taken[0].attributes).toHaveProperty('errorMessage');
      }
      const first = ['errorType', 'errorMessage', 'errorReason', 'errorTopic'];
      expect(told[0]).toEqual([]);
      expect(told[2]).toEqual(first);
      expect(told[4]).toEqual([...first, 'errorMessageId', 'errorTraceback']);
    },
  );

  it('of what has expired is escalated too', async () => {
    const { options, to, facts } = aPipeline();
    await handleFailure(httpError(503, 'down'), aMessage(OLD), options);
    expect(to('sending-mg-errors')).toMatchObject([{ attributes: { errorReason: 'expired', ...OLD } }]);
    expect(facts).toMatchObject([
      { fact: 'escalated', reason: 'expired' },
      { fact: 'dropped', reason: 'expired', ageMs: 37 * HOUR_MS },
    ]);
  });

  it('of what has expired and is normal is not', async () => {
    const { options, published, facts } = aPipeline();
    await handleFailure(asNormal(httpError(503, 'down')), aMessage(OLD), options);
    expect(published).toEqual([]);
    expect(facts).toMatchObject([{ fact: 'dropped', reason: 'expired' }]);
  });
});

describe('publishing that fails', () => {
  const REFUSALS = [
    ['rejects', () => Promise.reject(new Error('broker down')), 'broker down'],
    [
      'throws',
      () => {
        throw new Error('broker down');
      },
      'broker down',
    ],
    ['answers a refusal', async () => ({ ok: false, problem: 'broker down' }), 'broker down'],
    ['answers a refusal without words', async () => ({ ok: false }), 'refused'],
  ] as const;

  it.each(REFUSALS)('%s: no ack, and only that is told', async (_how, publish, words) => {
    for (const [thrown, attributes, topic] of [
      [httpError(503, 'x'), {}, 'me-pubsub-delayer'],
      [httpError(400, 'x'), {}, 'sending-mg-errors'],
      [httpError(503, 'x'), OLD, 'sending-mg-errors'],
    ] as const) {
      const { options, facts } = aPipeline({ publish });
      const problem = `${topic}: ${words}`;
      expect(await handleFailure(thrown, aMessage(attributes), options)).toMatchObject({
        settle: 'nack',
        problem,
      });
      expect(facts).toMatchObject([{ fact: 'refused', problem }]);
    }
  });

  it('is no matter to what is only dropped', async () => {
    const { options } = aPipeline({ publish: () => Promise.reject(new Error('down')) });
    expect((await handleFailure(httpError(404, 'x'), aMessage(), options)).settle).toBe('ack');
  });
});

describe('an onFact that fails', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('no log');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('no log'))],
  ])('%s: nothing else changes', async (_how, onFact) => {
    const { options, published } = aPipeline({ onFact });
    const consume = withErrorHandling(({ id }: PipelineMessage<string>) => {
      if (id === 'm-1') throw httpError(400, 'x');
    }, options);
    expect(await consume(aMessage())).toMatchObject({ settle: 'ack', action: 'escalate' });
    expect(await consume({ ...aMessage(), id: 'm-2' })).toMatchObject({ settle: 'ack', action: 'done' });
    expect(published).toHaveLength(1);
  });
});
