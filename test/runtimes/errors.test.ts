import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerFromHttp, answerFromSocket } from '../../lib/core/delivery/answer.ts';
import { ERRORS } from './cases.ts';
import { ask, connectTo, type FramedConnection } from './clients.ts';
import { LANGUAGES, NODE, PYTHON } from './languages.ts';
import { endAll, startForTest, startRuntime, waitFor, within } from './runtime-process.ts';

afterAll(endAll);

interface Told {
  readonly error: string;
  readonly message: string;
  readonly type: string;
  readonly mro: readonly string[];
  readonly traceback: string;
  readonly http_status?: number;
  readonly retry_after?: unknown;
}

describe.each(LANGUAGES)('the $name runtime, when the handler fails,', (language) => {
  let connection: FramedConnection;
  const fail = async (name: string, payload: unknown): Promise<Told> =>
    (await connection.call({ do: name, with: payload })) as Told;
  beforeAll(async () => {
    const runtime = await startRuntime({ language, handler: language.handler('run') });
    connection = await connectTo(runtime.socketPath);
  });

  it.each(ERRORS)('tells $title', async ({ payload, message, httpStatus, retryAfter, ...expected }) => {
    const { traceback, ...told } = await fail('fail', payload);
    expect(told).toEqual({
      error: 'processing_error',
      message,
      ...expected[language.name],
      ...(httpStatus === undefined ? {} : { http_status: httpStatus }),
      ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
    });
    expect(traceback).toContain(message);
    expect(traceback).toMatch(/handlers\.(py|ts)/);
    expect(traceback).not.toMatch(/asya.runtime\.(py|ts)/);
  });

  it.each(['faillater', 'faileach'])('tells the same of %s', async (name) => {
    const told = await fail(name, { kind: 'fields', fields: { status: 503 } });
    expect(told).toMatchObject({ message: 'slow down', http_status: 503 });
    expect(told.traceback).toMatch(/handlers\.(py|ts)/);
    expect(told.traceback).not.toMatch(/asya.runtime\.(py|ts)/);
  });

  it('tells causes in the traceback', async () => {
    const { traceback } = await fail('fail', { kind: 'cause' });
    expect(traceback).toContain('slow down');
    expect(traceback).toContain('no price');
    expect(traceback).toMatch(/direct cause of|Caused by: /);
  });

  it('has a message even where the error has none', async () => {
    expect((await fail('fail', { kind: 'empty' })).message).not.toBe('');
  });

  it.each([
    ['a value that JSON has not', 'odd', '', /holds a type|is a function/],
    ['one inside another', 'odd', 'inside', /holds a set|BigInt/],
    ['a circle', 'cyclic', '', /[Cc]ircular/],
    ['NaN', 'nan', '', /NaN/],
  ])('says so when the result is %s', async (_title, name, payload, message) => {
    const told = await fail(name, payload);
    expect(told).toMatchObject({ error: 'processing_error', type: 'ResultNotSerializable' });
    expect(told.mro.slice(0, 2)).toEqual(['ResultNotSerializable', 'TypeError']);
    expect(told.mro).toContain('Exception');
    expect(told.message).toMatch(message);
  });

  it('answers an error to a frame that is not JSON, and goes on', async () => {
    for (const bad of ['{"half":', '', 'NaN', '\ufeff1']) {
      connection.send(bad);
      const told = JSON.parse((await connection.receive()) ?? '') as Told;
      expect(told).toMatchObject({ error: 'bad_request', type: 'BadRequest' });
      expect(told.message).toMatch(/is not JSON/);
    }
    expect(await connection.call({ do: 'echo', with: 1 })).toBe(1);
  });

  it('refuses a rewritten route that the socket cannot carry', async () => {
    const told = (await connection.call({ do: 'reroute', with: { next: ['a'] }, ctx: true })) as Told;
    expect(told.message).toMatch(/ASYA_RUNTIME_PROTOCOL=envelope/);
  });

  it('is read by the sidecar as it was meant, over both ways', async () => {
    const fault = { message: 'slow down', httpStatus: 503, retryAfter: 7 };
    const payload = { do: 'fail', with: { kind: 'fields', fields: { status: 503, retry_after: 7 } } };
    const overSocket = answerFromSocket(JSON.stringify(await connection.call(payload)), 'array');
    expect(overSocket).toMatchObject({ kind: 'fault', fault });
    const runtime = await startForTest({ language, handler: language.handler('run'), over: 'http' });
    const { status, text } = await ask(runtime, { body: JSON.stringify(payload) });
    expect(status).toBe(500);
    expect(answerFromHttp({ status, text }, 'array')).toMatchObject({ kind: 'fault', fault });
  });

  it('leaves when the handler says so', async () => {
    const runtime = await startForTest({ language, handler: language.handler('leave') });
    (await connectTo(runtime.socketPath)).send('3');
    expect(await within(runtime.ended, 'the end')).toEqual({ code: 3, signal: null });
  });
});

describe.runIf(LANGUAGES.includes(PYTHON))('the python runtime, when the handler fails,', () => {
  it('says so when NaN is inside the result', async () => {
    const runtime = await startForTest({ language: PYTHON, handler: 'handlers.nan' });
    const told = await (await connectTo(runtime.socketPath)).call('inside');
    expect(told).toMatchObject({ type: 'ResultNotSerializable', message: expect.stringMatching(/NaN/) });
  });

  it('survives the end of a thread in the background, which is told', async () => {
    const runtime = await startForTest({ language: PYTHON, handler: 'handlers.stray' });
    const connection = await connectTo(runtime.socketPath);
    expect(await connection.call(1)).toBe('started');
    await waitFor(() => runtime.stderr().includes('ZeroDivisionError'), 'the traceback');
    expect(await connection.call(1)).toBe('started');
  });
});

describe('the node runtime, when the handler fails,', () => {
  let connection: FramedConnection;
  const throwing = async (payload: unknown): Promise<Told> => (await connection.call(payload)) as Told;
  beforeAll(async () => {
    const runtime = await startRuntime({ language: NODE, handler: './handlers.ts.fail' });
    connection = await connectTo(runtime.socketPath);
  });

  it.each([
    ['a string', 'no luck', 'ThrownValue', 'no luck'],
    ['null', null, 'ThrownValue', 'the handler threw null'],
    [
      'an object',
      { reason: 'busy', status: 503 },
      'ThrownValue',
      "the handler threw { reason: 'busy', status: 503 }",
    ],
    ['an object like an error', { name: 'Busy', message: 'come back' }, 'Busy', 'come back'],
  ])('makes an error of %s', async (_title, value, type, message) => {
    const told = await throwing({ kind: 'thrown', value });
    expect(told).toMatchObject({ type, message, mro: [type, 'Error', 'Exception'] });
    if (type === 'ThrownValue' && typeof value === 'object' && value !== null)
      expect(told.http_status).toBe(503);
  });

  it.each([
    ['named', 'Throttled', ['Throttled', 'Error', 'Exception']],
    ['abort', 'AbortError', ['AbortError', 'DOMException', 'Error', 'Exception']],
  ])('takes the name that tells more (%s)', async (kind, type, mro) => {
    expect(await throwing({ kind })).toMatchObject({ type, mro });
  });

  it('tells each error of an AggregateError', async () => {
    const told = await throwing({ kind: 'many' });
    expect(told).toMatchObject({ type: 'AggregateError', message: 'no v6; no v4' });
    expect(told.traceback).toMatch(/Error 1 in it: Error: no v6[\s\S]*Error 2 in it: RangeError: no v4/);
  });

  it('tells an error that is its own cause once', async () => {
    expect((await throwing({ kind: 'circle' })).traceback).toMatch(/Caused by: \(told above\)$/);
  });

  it('ends with status 1 on a rejection that nobody awaits, and tells it', async () => {
    const runtime = await startForTest({ language: NODE, handler: './handlers.ts.stray' });
    expect(await (await connectTo(runtime.socketPath)).call(1)).toBe('started');
    expect(await within(runtime.ended, 'the end')).toEqual({ code: 1, signal: null });
    expect(runtime.stderr()).toMatch(
      /an unhandled rejection[\s\S]*RangeError: nobody awaits this[\s\S]*handlers\.ts/,
    );
  });
});
