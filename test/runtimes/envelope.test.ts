import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, connectTo, type FramedConnection } from './clients.ts';
import { LANGUAGES } from './languages.ts';
import { endAll, startForTest, startRuntime } from './runtime-process.ts';

afterAll(endAll);

const ENVELOPE = {
  id: 'e-1',
  route: { prev: ['fetch'], curr: 'score', next: ['store', 'notify'] },
  headers: { traceparent: '00-1-2-01', 'x-custom': 'yes' },
  status: { phase: 'processing', attempt: 2, deadline_at: '2026-01-01T00:05:00Z', cause: { type: 'Old' } },
};

const SHIFTED = { prev: ['fetch', 'score'], curr: 'store', next: ['notify'] };

describe.each(LANGUAGES)('$name runtime, envelope protocol', (language) => {
  const env = { ASYA_RUNTIME_PROTOCOL: 'envelope' };
  let connection: FramedConnection;
  const call = (does: string, value: unknown, envelope: object = ENVELOPE): Promise<unknown> =>
    connection.call({ ...envelope, payload: { do: does, with: value, ctx: /^(known|reroute)/.test(does) } });
  beforeAll(async () => {
    const runtime = await startRuntime({ language, handler: language.handler('run'), env });
    connection = await connectTo(runtime.socketPath);
  });

  it.each([
    ['an object', { n: 1 }],
    ['zero', 0],
    ['an empty string', ''],
    ['false', false],
  ])('returns one frame for %s', async (_title, value) => {
    expect(await call('echo', value)).toEqual({ frames: [{ payload: value, route: SHIFTED }] });
  });

  it('passes the envelope to the handler', async () => {
    expect(await call('known', 1)).toMatchObject({
      frames: [
        {
          payload: {
            payload: 1,
            id: 'e-1',
            attempt: 2,
            deadline: '2026-01-01T00:05:00Z',
            traceparent: '00-1-2-01',
            custom: 'yes',
            error: { type: 'Old' },
            key: 'e-1:score:1',
          },
        },
      ],
    });
  });

  it('ends the route after its last actor', async () => {
    const last = { id: 'e-2', route: { prev: [], curr: 'score', next: [] } };
    expect(await call('echo', 1, last)).toEqual({
      frames: [{ payload: 1, route: { prev: ['score'], curr: '', next: [] } }],
    });
  });

  it.each(['each', 'eachlater', 'lateeach', 'echo'])('returns one frame for each item (%s)', async (name) => {
    expect(await call(name, ['a', null])).toEqual({
      frames: [
        { payload: 'a', route: SHIFTED },
        { payload: null, route: SHIFTED },
      ],
    });
  });

  it.each([
    ['nothing', 1],
    ['each', []],
    ['eachlater', []],
    ['echo', []],
  ])('returns null if there is nothing to send on (%s)', async (name, value) => {
    expect(await call(name, value)).toBe(null);
  });

  it('uses the route that the handler sets', async () => {
    expect(await call('reroute', { next: ['review', 'notify'] })).toMatchObject({
      frames: [{ route: { prev: ['fetch', 'score'], curr: 'review', next: ['notify'] } }],
    });
    expect(await call('reroute', { next: [] })).toMatchObject({
      frames: [{ route: { prev: ['fetch', 'score'], curr: '', next: [] } }],
    });
  });

  it('reads route and headers at each yield', async () => {
    const frame = (name: string): object => ({
      payload: name,
      route: { prev: ['fetch', 'score'], curr: name, next: ['last'] },
      headers: { ...ENVELOPE.headers, 'x-for': name },
    });
    expect(await call('rerouteeach', ['a', 'b'])).toEqual({ frames: [frame('a'), frame('b')] });
  });

  it('returns error objects', async () => {
    expect(await call('fail', { kind: 'plain' })).toMatchObject({
      error: 'processing_error',
      message: 'bad value',
    });
    expect(await call('reroute', { next: 'review' })).toMatchObject({
      type: 'TypeError',
      message: expect.stringMatching(/expected (a list|an array) of actor names/),
    });
  });

  it.each([
    1,
    null,
    {},
    { payload: 1 },
    { payload: 1, route: {} },
    { payload: 1, route: { prev: [], curr: 'a' } },
    { payload: 1, route: { prev: 'x', curr: 'a', next: [] } },
    { route: { prev: [], curr: 'a', next: [] } },
  ])('rejects %j, which is not an envelope', async (request) => {
    expect(await connection.call(request)).toMatchObject({
      error: 'bad_request',
      message: expect.stringMatching(/is not an envelope, which ASYA_RUNTIME_PROTOCOL=envelope requires/),
    });
  });

  it('works over HTTP', async () => {
    const runtime = await startForTest({ language, handler: language.handler('run'), env, over: 'http' });
    const body = (does: string): string =>
      JSON.stringify({ ...ENVELOPE, payload: { do: does, with: { next: ['x'] }, ctx: does === 'reroute' } });
    const { status, text, headers } = await ask(runtime, { body: body('reroute') });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ frames: [{ route: { curr: 'x', next: [] } }] });
    expect(headers).not.toHaveProperty('x-asya-route-next');
    expect((await ask(runtime, { body: body('nothing') })).status).toBe(204);
    expect((await ask(runtime, { body: '{}' })).status).toBe(400);
  });

  it('returns one frame for an array if ASYA_FANOUT=never', async () => {
    const never = { ...env, ASYA_FANOUT: 'never' };
    const runtime = await startForTest({ language, handler: language.handler('echo'), env: never });
    const one = await connectTo(runtime.socketPath);
    for (const payload of [[], [1, 2]])
      expect(await one.call({ ...ENVELOPE, payload })).toEqual({ frames: [{ payload, route: SHIFTED }] });
  });
});
