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
  it('acknowledges the message and publishes nothing', async () => {
    const { options, published, facts } = aPipeline();
    const consume = withErrorHandling(async ({ data }: PipelineMessage<string>) => data.length, options);
    expect(await consume(aMessage())).toEqual({ settle: 'ack', action: 'done', result: 8 });
    expect(published).toEqual([]);
    expect(facts).toEqual([{ fact: 'success', messageId: 'm-1' }]);
  });
});

/** The size of a publish request in protocol buffers, without the topic's name. */
function requestBytes({ data, attributes }: PublishedMessage<Uint8Array | string>): number {
  const lengths = Object.entries(attributes).map(([name, value]) => 9 + Buffer.byteLength(name + value));
  return data.length + lengths.reduce((sum, length) => sum + length, 0);
}

describe('precedence of the rules', () => {
  it.each([
    [
      'permanent takes precedence over expired',
      httpError(404, 'x'),
      OLD,
      { action: 'drop', escalate: false },
    ],
    ['permanent ignores the retry count', httpError(410, 'x'), { retryCount: '99' }, { action: 'drop' }],
    ['expired takes precedence over retriable', httpError(503, 'x'), OLD, { action: 'drop', expired: true }],
    [
      'expired takes precedence over escalation',
      httpError(400, 'x'),
      OLD,
      { action: 'drop', escalate: true },
    ],
    [
      'retries while a delay is left',
      topicPublishError('x'),
      { retryCount: '5' },
      { action: 'retry', delaySeconds: 30 },
    ],
    [
      'restarts the delays for a failing service',
      httpError(503, 'x'),
      { retryCount: '6' },
      { action: 'retry', nextCount: 1 },
    ],
    [
      'expires a failing client after the last delay',
      topicPublishError('x'),
      { retryCount: '6' },
      { action: 'drop', escalate: true },
    ],
    ['escalates any other error', new Error('x'), { retryCount: '99' }, { action: 'escalate' }],
  ])('%s', async (_rule, thrown, attributes: Record<string, string>, expected) => {
    const { options } = aPipeline();
    expect(await handleFailure(thrown, aMessage(attributes), options)).toMatchObject({
      settle: 'ack',
      ...expected,
    });
  });
});

describe('a retry', () => {
  it('is published to the delayer with the data, the attributes and an incremented retry count', async () => {
    const { options, published, facts, advance } = aPipeline();
    advance(2_000);
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

  it('keeps a valid event time unchanged, and sets a missing or invalid one', async () => {
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

  it.each(['', 'x', '-1', '1.5', '9'.repeat(400)])('treats a retry count of %j as 0', async (retryCount) => {
    const { options } = aPipeline();
    const failed = await handleFailure(topicPublishError('x'), aMessage({ retryCount }), options);
    expect(failed).toMatchObject({ retryCount: 0, nextCount: 1 });
  });

  it('writes fractional delays, and uses the configured delayer topic', async () => {
    const settings = { delaysSeconds: [0.25, 93.5], expireAfterHours: 36, errorsTopic: 'errors' };
    const { options, publishedTo } = aPipeline({ settings, delayerTopic: 'slow-lane' });
    await handleFailure(httpError(503, 'x'), aMessage(), options);
    await handleFailure(httpError(503, 'x'), aMessage({ retryCount: '1' }), options);
    expect(publishedTo('slow-lane').map(({ attributes }) => attributes['me-pubsub-delayer/delay'])).toEqual([
      '250ms',
      '1m33s500ms',
    ]);
  });
});

describe('a retry of a message that is too large for the delayer', () => {
  it.each([
    ['text', 'é'.repeat(370_001), 'ü'.repeat(370_000)],
    ['bytes', Buffer.alloc(740_001), Buffer.alloc(740_000)],
  ])('is escalated with the error instead (%s)', async (_kind, tooLarge, largest) => {
    const { options, facts } = aPipeline();
    const topics: string[] = [];
    const publish = async (topic: string) => topics.push(topic);
    const message = { ...aMessage({ retryCount: '2' }), data: tooLarge };
    const failed = await handleFailure(httpError(503, 'down'), message, { ...options, publish });
    expect(failed).toMatchObject({ settle: 'ack', action: 'escalate', retryCount: 2 });
    await handleFailure(httpError(503, 'down'), { ...message, data: largest }, { ...options, publish });
    expect(topics).toEqual(['sending-mg-errors', 'me-pubsub-delayer']);
    expect(facts.map(({ fact }) => fact)).toEqual(['escalated', 'retried']);
  });
});

describe('an escalation', () => {
  it('contains the original message, the error, the retry count and the trace context', async () => {
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

  it("shortens or omits error attributes to stay within the broker's limits, never original ones", async () => {
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
    ['documented', 10_000_000],
    ['actual', 10 * 1024 * 1024],
  ])(
    "contains the error attributes that fit if the message is near the broker's %s size limit",
    async (_limit, limit) => {
      const thrown = Object.assign(new Error('é'.repeat(600)), { stack: 's'.repeat(1_200) });
      const kept = { ...TRACE, retryCount: '1', eventTime: '2026-01-01T00:00:00Z' };
      const errorAttributes: string[][] = [];
      for (const left of [0, 100, 600, 1_000, 3_000]) {
        const size = limit - 64 - requestBytes({ data: '', attributes: kept }) - left;
        const accepted: PublishedMessage<Uint8Array>[] = [];
        const { clock, settings, topic, onFact } = aPipeline().options;
        const publish = async (_topic: string, message: PublishedMessage<Uint8Array>) => {
          if (64 + requestBytes(message) > limit)
            throw httpError(400, 'Request payload size exceeds the limit');
          return accepted.push(message);
        };
        const message = { id: 'm-1', data: Buffer.alloc(size), attributes: kept };
        const options = { clock, settings, topic, onFact, publish };
        expect(await handleFailure(thrown, message, options)).toMatchObject({ settle: 'ack' });
        const [escalated] = accepted;
        expect(escalated?.data).toBe(message.data);
        expect(escalated?.attributes).toMatchObject(kept);
        const names = Object.keys(escalated?.attributes ?? {});
        errorAttributes.push(names.filter((name) => !Object.hasOwn(kept, name)));
        // The traceback is the first attribute to be omitted.
        if (escalated?.attributes['errorTraceback'] !== undefined)
          expect(escalated.attributes).toHaveProperty('errorMessage');
      }
      const first = ['errorType', 'errorMessage', 'errorReason', 'errorTopic'];
      expect(errorAttributes[0]).toEqual([]);
      expect(errorAttributes[2]).toEqual(first);
      expect(errorAttributes[4]).toEqual([...first, 'errorMessageId', 'errorTraceback']);
    },
  );

  it('is published for an expired message', async () => {
    const { options, publishedTo, facts } = aPipeline();
    await handleFailure(httpError(503, 'down'), aMessage(OLD), options);
    expect(publishedTo('sending-mg-errors')).toMatchObject([
      { attributes: { errorReason: 'expired', ...OLD } },
    ]);
    expect(facts).toMatchObject([
      { fact: 'escalated', reason: 'expired' },
      { fact: 'dropped', reason: 'expired', ageMs: 37 * HOUR_MS },
    ]);
  });

  it('is not published for an expired message whose error is normal', async () => {
    const { options, published, facts } = aPipeline();
    await handleFailure(asNormal(httpError(503, 'down')), aMessage(OLD), options);
    expect(published).toEqual([]);
    expect(facts).toMatchObject([{ fact: 'dropped', reason: 'expired' }]);
  });
});

describe('a publish that fails', () => {
  const REFUSALS = [
    ['rejects', () => Promise.reject(new Error('broker down')), 'broker down'],
    [
      'throws',
      () => {
        throw new Error('broker down');
      },
      'broker down',
    ],
    ['returns a refusal', async () => ({ ok: false, problem: 'broker down' }), 'broker down'],
    ['returns a refusal without a problem', async () => ({ ok: false }), 'refused'],
  ] as const;

  it.each(REFUSALS)('leads to a nack and one fact, if publish %s', async (_how, publish, reason) => {
    for (const [thrown, attributes, topic] of [
      [httpError(503, 'x'), {}, 'me-pubsub-delayer'],
      [httpError(400, 'x'), {}, 'sending-mg-errors'],
      [httpError(503, 'x'), OLD, 'sending-mg-errors'],
    ] as const) {
      const { options, facts } = aPipeline({ publish });
      const problem = `${topic}: ${reason}`;
      expect(await handleFailure(thrown, aMessage(attributes), options)).toMatchObject({
        settle: 'nack',
        problem,
      });
      expect(facts).toMatchObject([{ fact: 'refused', problem }]);
    }
  });

  it('does not affect a message that is only dropped', async () => {
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
  ])('does not change the outcome, if it %s', async (_how, onFact) => {
    const { options, published } = aPipeline({ onFact });
    const consume = withErrorHandling(({ id }: PipelineMessage<string>) => {
      if (id === 'm-1') throw httpError(400, 'x');
    }, options);
    expect(await consume(aMessage())).toMatchObject({ settle: 'ack', action: 'escalate' });
    expect(await consume({ ...aMessage(), id: 'm-2' })).toMatchObject({ settle: 'ack', action: 'done' });
    expect(published).toHaveLength(1);
  });
});
