import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerFromHttp, answerFromSocket } from '../../lib/core/delivery/answer.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { ERRORS } from './cases.ts';
import { ask, connectTo, type FramedConnection } from './clients.ts';
import { LANGUAGES, NODE, PYTHON } from './languages.ts';
import { endAll, startForTest, startRuntime, waitFor, within } from './runtime-process.ts';

afterAll(endAll);

interface ErrorObject {
  readonly error: string;
  readonly message: string;
  readonly type: string;
  readonly mro: readonly string[];
  readonly traceback: string;
  readonly http_status?: number;
  readonly retry_after?: unknown;
}

describe.each(LANGUAGES)('$name runtime, errors', (language) => {
  let connection: FramedConnection;
  const fail = async (name: string, payload: unknown): Promise<ErrorObject> =>
    (await connection.call({ do: name, with: payload })) as ErrorObject;
  beforeAll(async () => {
    const runtime = await startRuntime({ language, handler: language.handler('run') });
    connection = await connectTo(runtime.socketPath);
  });

  it.each(ERRORS)('reports $title', async ({ payload, message, httpStatus, retryAfter, ...expected }) => {
    const { traceback, ...error } = await fail('fail', payload);
    expect(error).toEqual({
      error: 'processing_error',
      message,
      ...expected[language.name],
      ...defined({ http_status: httpStatus, retry_after: retryAfter }),
    });
    expect(traceback).toContain(message);
    expect(traceback).toMatch(/handlers\.(py|ts)/);
    expect(traceback).not.toMatch(/asya.runtime\.(py|ts)/);
  });

  it.each(['faillater', 'faileach'])('reports the same for %s', async (name) => {
    const error = await fail(name, { kind: 'fields', fields: { status: 503 } });
    expect(error).toMatchObject({ message: 'slow down', http_status: 503 });
    expect(error.traceback).toMatch(/handlers\.(py|ts)/);
    expect(error.traceback).not.toMatch(/asya.runtime\.(py|ts)/);
  });

  it('includes causes in the traceback', async () => {
    const { traceback } = await fail('fail', { kind: 'cause' });
    expect(traceback).toContain('slow down');
    expect(traceback).toContain('no price');
    expect(traceback).toMatch(/direct cause of|Caused by: /);
  });

  it('has a message even if the error has none', async () => {
    expect((await fail('fail', { kind: 'empty' })).message).not.toBe('');
  });

  it.each([
    ['a function or class', 'odd', '', /(contains a type|is a function), which JSON cannot represent/],
    ['an object with a set or BigInt', 'odd', 'inside', /contains a set|BigInt/],
    ['a circular reference', 'cyclic', '', /cannot be encoded as JSON: .*[Cc]ircular/],
    ['NaN', 'nan', '', /NaN/],
  ])('reports ResultNotSerializable if the result is %s', async (_title, name, payload, message) => {
    const error = await fail(name, payload);
    expect(error).toMatchObject({ error: 'processing_error', type: 'ResultNotSerializable' });
    expect(error.mro.slice(0, 2)).toEqual(['ResultNotSerializable', 'TypeError']);
    expect(error.mro).toContain('Exception');
    expect(error.message).toMatch(message);
  });

  it('answers a frame that is not JSON with an error, and stays usable', async () => {
    for (const bad of ['{"half":', '', 'NaN', '\ufeff1']) {
      connection.send(bad);
      const error = JSON.parse((await connection.receive()) ?? '') as ErrorObject;
      expect(error).toMatchObject({ error: 'bad_request', type: 'BadRequest' });
      expect(error.message).toMatch(
        /^the request body \(\d+ bytes\) is not JSON: .*; send one JSON value encoded as UTF-8$/,
      );
    }
    expect(await connection.call({ do: 'echo', with: 1 })).toBe(1);
  });

  it('rejects a changed route in the payload protocol over the socket', async () => {
    const error = (await connection.call({ do: 'reroute', with: { next: ['a'] }, ctx: true })) as ErrorObject;
    expect(error.message).toMatch(
      /the plain socket protocol cannot carry; use asya: or http: in ASYA_RUNTIME_URL, or set ASYA_RUNTIME_PROTOCOL=envelope$/,
    );
  });

  it('returns error objects that the sidecar can read, over socket and HTTP', async () => {
    const fault = { message: 'slow down', httpStatus: 503, retryAfter: 7 };
    const payload = { do: 'fail', with: { kind: 'fields', fields: { status: 503, retry_after: 7 } } };
    const overSocket = answerFromSocket(JSON.stringify(await connection.call(payload)), 'array');
    expect(overSocket).toMatchObject({ kind: 'fault', fault });
    const runtime = await startForTest({ language, handler: language.handler('run'), over: 'http' });
    const { status, text } = await ask(runtime, { body: JSON.stringify(payload) });
    expect(status).toBe(500);
    expect(answerFromHttp({ status, text }, 'array')).toMatchObject({ kind: 'fault', fault });
  });

  it('exits when the handler exits the process', async () => {
    const runtime = await startForTest({ language, handler: language.handler('leave') });
    (await connectTo(runtime.socketPath)).send('3');
    expect(await within(runtime.ended, 'the end')).toEqual({ code: 3, signal: null });
  });
});

describe.runIf(LANGUAGES.includes(PYTHON))('python runtime, errors', () => {
  it('reports ResultNotSerializable if the result contains NaN', async () => {
    const runtime = await startForTest({ language: PYTHON, handler: 'handlers.nan' });
    const error = await (await connectTo(runtime.socketPath)).call('inside');
    expect(error).toMatchObject({
      type: 'ResultNotSerializable',
      message: expect.stringMatching(/contains NaN or Infinity/),
    });
  });

  it('logs an exception in a background thread and keeps running', async () => {
    const runtime = await startForTest({ language: PYTHON, handler: 'handlers.stray' });
    const connection = await connectTo(runtime.socketPath);
    expect(await connection.call(1)).toBe('started');
    await waitFor(() => runtime.stderr().includes('ZeroDivisionError'), 'the traceback');
    expect(await connection.call(1)).toBe('started');
  });
});

describe('node runtime, errors', () => {
  let connection: FramedConnection;
  const throwing = async (payload: unknown): Promise<ErrorObject> =>
    (await connection.call(payload)) as ErrorObject;
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
    ['an object with name and message', { name: 'Busy', message: 'come back' }, 'Busy', 'come back'],
  ])('turns a thrown value into an error: %s', async (_title, value, type, message) => {
    const error = await throwing({ kind: 'thrown', value });
    expect(error).toMatchObject({ type, message, mro: [type, 'Error', 'Exception'] });
    if (type === 'ThrownValue' && typeof value === 'object' && value !== null)
      expect(error.http_status).toBe(503);
  });

  it.each([
    ['named', 'Throttled', ['Throttled', 'Error', 'Exception']],
    ['abort', 'AbortError', ['AbortError', 'DOMException', 'Error', 'Exception']],
  ])('prefers the more specific name (%s)', async (kind, type, mro) => {
    expect(await throwing({ kind })).toMatchObject({ type, mro });
  });

  it('includes each error of an AggregateError', async () => {
    const error = await throwing({ kind: 'many' });
    expect(error).toMatchObject({ type: 'AggregateError', message: 'no v6; no v4' });
    expect(error.traceback).toMatch(/Inner error 1: Error: no v6[\s\S]*Inner error 2: RangeError: no v4/);
  });

  it('shows an error that is its own cause only once', async () => {
    expect((await throwing({ kind: 'circle' })).traceback).toMatch(/Caused by: \(shown above\)$/);
  });

  it('logs an unhandled rejection and exits with status 1', async () => {
    const runtime = await startForTest({ language: NODE, handler: './handlers.ts.stray' });
    expect(await (await connectTo(runtime.socketPath)).call(1)).toBe('started');
    expect(await within(runtime.ended, 'the end')).toEqual({ code: 1, signal: null });
    expect(runtime.stderr()).toMatch(
      /unhandled rejection in the handler's code[\s\S]*RangeError: not awaited[\s\S]*handlers\.ts/,
    );
  });
});
