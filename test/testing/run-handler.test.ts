import { describe, expect, it, vi } from 'vitest';
import { type Context, type Handler, NonRetryable, RetryAfter } from '../../lib/handler/index.ts';
import { type HandlerRunOptions, runHandler } from '../../lib/testing/index.ts';

interface Text {
  readonly text: string;
}

const score = ({ text }: Text) => ({ text, score: text.length });

/** Everything that a handler knows. */
async function contextWith(options: HandlerRunOptions): Promise<Context> {
  let known: Context | undefined;
  await runHandler(
    (_: object, context: Context) => {
      known = context;
      return null;
    },
    {},
    options,
  );
  if (known === undefined) throw new Error('the handler was not called');
  return known;
}

it.each([Number.NaN, -1, Number.POSITIVE_INFINITY])('RetryAfter rejects %s seconds', (seconds) => {
  expect(() => new RetryAfter(seconds)).toThrow(
    `RetryAfter received ${seconds}; expected a number of seconds that is 0 or more`,
  );
});

describe('runHandler returns the items of', () => {
  it('a plain handler, with its types', async () => {
    const run = await runHandler(score, { text: 'hi' });
    const items: readonly { text: string; score: number }[] = run.items;
    expect(items).toEqual([{ text: 'hi', score: 2 }]);
    expect(run).toMatchObject({ error: undefined, isResent: false, progress: [], headers: {} });
  });

  it('an async handler, and one with the type Handler', async () => {
    const handler: Handler<Text, number> = async ({ text }) => text.length;
    expect((await runHandler(handler, { text: 'hi' })).items).toEqual([2]);
  });

  it('a generator and an async generator', async () => {
    function* letters({ text }: Text) {
      yield* text;
    }
    async function* later({ text }: Text) {
      yield* text;
    }
    expect((await runHandler(letters, { text: 'hi' })).items).toEqual(['h', 'i']);
    expect((await runHandler(later, { text: 'hi' })).items).toEqual(['h', 'i']);
  });

  it('a method of a class', async () => {
    class Scorer {
      readonly factor = 3;
      score({ text }: Text): number {
        return text.length * this.factor;
      }
    }
    const scorer = new Scorer();
    expect((await runHandler(scorer.score.bind(scorer), { text: 'hi' })).items).toEqual([6]);
  });

  it('an array, which is one value without fan-out', async () => {
    const pair = ({ text }: Text) => [text, text];
    expect((await runHandler(pair, { text: 'a' })).items).toEqual(['a', 'a']);
    expect((await runHandler(pair, { text: 'a' }, { fanOut: 'never' })).items).toEqual([['a', 'a']]);
  });

  it.each([null, undefined, []])('%j: none', async (value) => {
    expect((await runHandler(() => value, {})).items).toEqual([]);
  });

  it.each([0, false, '', {}])('%j: one', async (value) => {
    expect((await runHandler(() => value, {})).items).toEqual([value]);
  });
});

describe('runHandler gives the context', () => {
  it('its defaults', async () => {
    expect(await contextWith({})).toMatchObject({
      envelopeId: 'test-envelope',
      parentId: undefined,
      actor: 'test-actor',
      hop: 0,
      attempt: 1,
      maxAttempts: undefined,
      deadline: undefined,
      route: { prev: [], curr: 'test-actor', next: [] },
      headers: {},
      traceparent: undefined,
      error: undefined,
      idempotencyKey: 'test-envelope:test-actor:0',
    });
  });

  it('every field that a test sets', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const deadline = new Date('2030-01-01T00:00:00Z');
    const context = await contextWith({
      envelopeId: 'e-1',
      parentId: 'e-0',
      actor: 'score',
      attempt: 2,
      maxAttempts: 3,
      deadline,
      timeoutMs: 60_000,
      route: { prev: ['fetch'], next: ['store'] },
      headers: { lang: 'de', nested: { a: [1] }, traceparent, tracestate: 'x=1' },
      error: { type: 'ValueError', message: 'no text' },
    });
    expect(context).toMatchObject({
      envelopeId: 'e-1',
      parentId: 'e-0',
      actor: 'score',
      hop: 1,
      attempt: 2,
      maxAttempts: 3,
      deadline,
      route: { prev: ['fetch'], curr: 'score', next: ['store'] },
      headers: { lang: 'de', nested: { a: [1] }, traceparent },
      traceparent,
      tracestate: 'x=1',
      error: { type: 'ValueError', mro: ['ValueError'], message: 'no text', traceback: '' },
      idempotencyKey: 'e-1:score:1',
    });
    expect(context.timeLeftMs()).toBeLessThanOrEqual(60_000);
    expect(context.timeLeftMs()).toBeGreaterThan(0);
  });
});

describe('runHandler returns', () => {
  it('changes of the route and the headers, for each item', async () => {
    function* split(_: object, context: Context) {
      yield 1;
      context.setRouteNext(['review']);
      context.setHeader('part', { number: 2 });
      context.removeHeader('lang');
      yield 2;
    }
    const options = { route: { next: ['store'] }, headers: { lang: 'de' } };
    const { sent, route, headers } = await runHandler(split, {}, options);
    expect(sent).toEqual([
      { payload: 1, next: ['store'], headers: { lang: 'de' } },
      { payload: 2, next: ['review'], headers: { part: { number: 2 } } },
    ]);
    expect(route).toEqual({ prev: [], curr: 'test-actor', next: ['review'] });
    expect(headers).toEqual({ part: { number: 2 } });
  });

  it('progress, in order', async () => {
    const report = (_: object, { progress }: Context) => {
      progress({ percent: 140, message: 'a' });
      progress({ data: { page: 1 } });
    };
    expect((await runHandler(report, {})).progress).toEqual([
      { percent: 100, message: 'a' },
      { data: { page: 1 } },
    ]);
  });

  it('an error as the mesh sees it', async () => {
    class RateLimited extends Error {
      readonly response = { status: 429, headers: { 'retry-after': '7' } };
    }
    const thrown = new RateLimited('slow down');
    const { error } = await runHandler(() => {
      throw thrown;
    }, {});
    expect(error).toMatchObject({
      type: 'RateLimited',
      mro: ['RateLimited', 'Error', 'Exception'],
      message: 'slow down',
      httpStatus: 429,
      retryAfter: '7',
    });
    expect(error?.thrown).toBe(thrown);
    expect(error?.traceback).toContain('slow down');
  });

  it.each([
    [new RetryAfter(30), { type: 'asya.RetryAfter', retryAfter: 30 }],
    [new NonRetryable('no pages'), { type: 'asya.NonRetryable', message: 'no pages' }],
    ['text', { type: 'ThrownValue', message: 'text' }],
  ])('%s', async (thrown, expected) => {
    const { error } = await runHandler(async () => {
      throw thrown;
    }, {});
    expect(error).toMatchObject(expected);
  });

  it('no items of a generator that fails', async () => {
    const run = await runHandler(function* () {
      yield 1;
      throw new TypeError('the second is missing');
    }, {});
    expect(run.error?.type).toBe('TypeError');
    expect(() => run.items).toThrow(
      'the handler failed, so it sent nothing: TypeError: the second is missing',
    );
    expect(() => run.sent).toThrow(expect.objectContaining({ cause: run.error?.thrown }));
    expect(JSON.stringify(run)).toContain('the second is missing');
  });

  it('an error for a result that JSON cannot represent', async () => {
    expect((await runHandler(() => ({ big: 1n }), {})).error?.type).toBe('ResultNotSerializable');
    expect((await runHandler(() => Number.NaN, {})).error?.message).toContain('NaN');
  });
});

describe('runHandler passes values through JSON', () => {
  it('the payload is a copy', async () => {
    const payload = { list: [1], gone: undefined };
    const run = await runHandler((received: typeof payload) => {
      received.list.push(2);
      return Object.keys(received);
    }, payload);
    expect(run.items).toEqual(['list']);
    expect(payload.list).toEqual([1]);
  });

  it('results arrive as the next actor receives them', async () => {
    const at = new Date(0);
    const { items } = await runHandler(() => ({ at, map: new Map([[1, 2]]), not: Number.NaN }), {});
    expect(items).toEqual([{ at: '1970-01-01T00:00:00.000Z', map: {}, not: null }]);
  });

  it.each([
    [new Date(0), 'payload is a Date'],
    [{ at: [new Date(0)] }, 'payload.at[0] is a Date'],
    [{ map: new Map() }, 'payload.map is a Map'],
    [{ n: Number.NaN }, 'payload.n is NaN'],
    [{ big: 1n }, 'payload.big is a bigint'],
    [{ run: () => 1 }, 'payload.run is a function'],
    [[undefined], 'payload[0] is undefined'],
    [undefined, 'payload is undefined'],
  ])('rejects a payload that JSON would change: %o', async (payload, message) => {
    await expect(runHandler(() => 1, payload)).rejects.toThrow(message);
    await expect(runHandler(() => 1, payload)).rejects.toBeInstanceOf(TypeError);
  });

  it.each([undefined, null, { score: () => 1 }, 'score'])('rejects a handler that is %o', async (handler) => {
    const run = runHandler(handler as never, {});
    await expect(run).rejects.toThrow(/^the handler is .*; expected a function/);
    await expect(run).rejects.toBeInstanceOf(TypeError);
  });

  it('rejects a payload that contains itself, and such a header', async () => {
    const payload: Record<string, unknown> = {};
    payload['self'] = payload;
    await expect(runHandler(() => 1, payload)).rejects.toThrow('payload.self contains itself');
    await expect(runHandler(() => 1, {}, { headers: { at: new Date(0) } })).rejects.toThrow(
      'headers.at is a Date',
    );
  });
});

describe('runHandler cancels', () => {
  const untilCanceled: Handler<object, string> = (_, { signal }) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) resolve('was canceled');
      signal.addEventListener('abort', () => reject(new Error('stopped')));
    });

  it('a call, and reports that the envelope is sent again', async () => {
    const stop = new AbortController();
    const running = runHandler(untilCanceled, {}, { cancel: stop.signal });
    stop.abort();
    expect(await running).toMatchObject({ isResent: true, error: { message: 'stopped' } });
  });

  it('a call from its beginning, which may still succeed', async () => {
    const run = await runHandler(untilCanceled, {}, { cancel: AbortSignal.abort() });
    expect([run.items, run.isResent]).toEqual([['was canceled'], false]);
    const late = (_: object, context: Context) => context.cancelled();
    expect((await runHandler(late, {}, { cancel: AbortSignal.abort() })).items).toEqual([true]);
    expect((await runHandler(late, {})).items).toEqual([false]);
  });

  it('a call that has ended, without its signal', async () => {
    let kept: Context | undefined;
    const keep = (_: object, context: Context) => {
      kept = context;
      return [context.cancelled(), context.signal.aborted];
    };
    expect((await runHandler(keep, {}, { fanOut: 'never' })).items).toEqual([[false, false]]);
    expect([kept?.cancelled(), kept?.signal.aborted]).toEqual([true, false]);
  });

  it('a call shortly before its timeout', async () => {
    expect(await runHandler(untilCanceled, {}, { timeoutMs: 1 })).toMatchObject({ isResent: false });
  });
});

describe('runHandler ends', () => {
  it('a test whose handler hangs, also with fake timers', async () => {
    vi.useFakeTimers();
    try {
      let signal: AbortSignal | undefined;
      const hangs = (_: object, context: Context) => {
        signal = context.signal;
        return new Promise<never>(() => {});
      };
      await expect(runHandler(hangs, {}, { realTimeoutMs: 20 })).rejects.toThrow(
        'the handler of "test-actor" did not end within 20 ms of real time',
      );
      expect(signal?.aborted).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });
});
