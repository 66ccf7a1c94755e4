import { afterEach, describe, expect, test } from 'vitest';
import { type HttpRuntimeOptions, httpRuntime } from '../../../lib/adapters/runtime-http/http-runtime.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import type { Runtime } from '../../../lib/ports/runtime.ts';
import { withoutRequestTimeouts } from '../../support/without-request-timeouts.ts';
import {
  A_LONG_TIME_MS,
  detailOf,
  envelopeWith,
  ROUTE,
  requestWith,
  valueIn,
} from '../runtime-socket/a-request.ts';
import { type Behaviour, eventsOf, type RawServer, responseOf, startRawServer } from './raw-server.ts';

/** HTTP: requests, the meaning of answers, and the use of connections. */

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function start(
  behave: Behaviour,
  options: Partial<HttpRuntimeOptions> = {},
  over: 'tcp' | 'unix' = 'tcp',
): Promise<{ server: RawServer; runtime: Runtime }> {
  const server = await startRawServer(behave, over);
  const { url, socketPath } = server;
  const runtime = await httpRuntime({
    url,
    ...defined({ socketPath }),
    protocol: 'payload',
    fanOut: 'array',
    maxAnswerBytes: 6 * 1024 * 1024,
    connections: 1,
    ...options,
  });
  open.push(runtime, server);
  return { server, runtime };
}

const answering = (response: Buffer, options?: Partial<HttpRuntimeOptions>) =>
  start((socket) => socket.write(response), options);

const echo: Behaviour = (socket, { body }) => socket.write(responseOf(200, body));

describe.each(['tcp', 'unix'] as const)('over %s', (over) => {
  withoutRequestTimeouts();

  test('sends the payload as the body and metadata in headers', async () => {
    const { server, runtime } = await start(echo, {}, over);
    const envelope = envelopeWith(
      { n: 1 },
      {
        headers: { traceparent: '00-a-b-01', secret: 'stays' },
        status: { attempt: 2, deadline_at: '2030-01-01T00:00:00Z' },
      },
    );
    expect(valueIn(await runtime.call({ envelope, timeoutMs: A_LONG_TIME_MS }))).toEqual({ n: 1 });
    const [request] = server.requests;
    expect(request).toMatchObject({
      line: 'POST /invoke',
      body: '{"n":1}',
      headers: {
        'content-type': 'application/json',
        'x-asya-envelope-id': 'e-1',
        'x-asya-attempt': '2',
        'x-asya-deadline': '2030-01-01T00:00:00Z',
        traceparent: '00-a-b-01',
      },
    });
    expect(JSON.stringify(request?.headers)).not.toContain('stays');
  });

  test('sequential calls share one connection', async () => {
    const { server, runtime } = await start(echo, {}, over);
    for (let call = 0; call < 30; call++) expect(valueIn(await runtime.call(requestWith(call)))).toBe(call);
    expect(server.accepted()).toBe(1);
  });

  test('is healthy if GET /healthz succeeds', async () => {
    const { server, runtime } = await start((socket) => socket.write(responseOf(200, 'ok')), {}, over);
    expect(await runtime.problem()).toBeUndefined();
    expect(server.requests[0]?.line).toBe('GET /healthz');
  });
});

test('encodes an envelope id that is not valid in a header', async () => {
  const { server, runtime } = await start(echo);
  const envelope = envelopeWith(1, { id: 'é\r\nx-evil: 1' });
  expect(valueIn(await runtime.call({ envelope, timeoutMs: A_LONG_TIME_MS }))).toBe(1);
  expect(server.requests[0]?.headers).not.toHaveProperty('x-evil');
  expect(decodeURIComponent(server.requests[0]?.headers['x-asya-envelope-id'] ?? '')).toBe('é\r\nx-evil: 1');
});

test('concurrent calls use one connection each, and reuse them', async () => {
  const { server, runtime } = await start(
    (socket, { body }) => setTimeout(() => socket.write(responseOf(200, body)), 20),
    { connections: 5 },
  );
  for (let round = 0; round < 3; round++) {
    const values = await Promise.all([0, 1, 2, 3, 4].map((n) => runtime.call(requestWith(n)).then(valueIn)));
    expect(values).toEqual([0, 1, 2, 3, 4]);
  }
  expect(server.accepted()).toBe(5);
});

describe('answers', () => {
  test('reads 204 as no value', async () => {
    const { runtime } = await answering(Buffer.from('HTTP/1.1 204 No Content\r\n\r\n'));
    expect(await runtime.call(requestWith(1))).toEqual({ kind: 'empty' });
  });

  test('reads 200 with an error object as a value, because only the status counts', async () => {
    const { runtime } = await answering(responseOf(200, '{"error":"c","message":"m","type":"T"}'));
    expect(valueIn(await runtime.call(requestWith(1)))).toEqual({ error: 'c', message: 'm', type: 'T' });
  });

  test('reads an array as several values', async () => {
    const { runtime } = await answering(responseOf(200, '[1, 2]'));
    expect(valueIn(await runtime.call(requestWith(1)))).toEqual([1, 2]);
  });

  test.each([
    ['store, notify', ['store', 'notify']],
    ['', []],
  ])('the header x-asya-route-next "%s" rewrites the route', async (header, next) => {
    const { runtime } = await answering(responseOf(200, '1', { 'x-asya-route-next': header }));
    expect(await runtime.call(requestWith(1))).toEqual({ kind: 'frames', frames: [{ payload: '1', next }] });
  });

  test('reads 500 with an error object as that error', async () => {
    const object = { error: 'c', message: 'm', type: 'pkg.T', mro: ['E'], http_status: 429, retry_after: 3 };
    const { runtime } = await answering(responseOf(500, JSON.stringify(object)));
    expect(await runtime.call(requestWith(1))).toEqual({
      kind: 'fault',
      fault: { type: 'pkg.T', mro: ['E'], message: 'm', traceback: '', httpStatus: 429, retryAfter: 3 },
    });
  });

  test('reads 500 without a body as an error', async () => {
    const { runtime } = await answering(responseOf(500));
    expect(await runtime.call(requestWith(1))).toMatchObject({
      kind: 'fault',
      fault: { type: 'HTTPError', mro: ['Exception'], httpStatus: 500, message: 'the runtime answered 500' },
    });
  });

  test('reads the status and Retry-After of 503', async () => {
    const { runtime } = await answering(responseOf(503, 'busy', { 'retry-after': '7' }));
    expect(await runtime.call(requestWith(1))).toMatchObject({
      kind: 'fault',
      fault: {
        type: 'HTTPError',
        httpStatus: 503,
        retryAfter: '7',
        message: 'the runtime answered 503: busy',
      },
    });
  });

  test('reads an error whose body is not UTF-8', async () => {
    const { runtime } = await answering(responseOf(502, Buffer.from([0xff, 0xfe])));
    expect(await runtime.call(requestWith(1))).toMatchObject({ kind: 'fault', fault: { httpStatus: 502 } });
  });
});

describe('envelope protocol', () => {
  const whole = { protocol: 'envelope' } as const;
  const STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };
  const shifted = { prev: ['fetch', 'score'], curr: 'store', next: ['notify'] };

  test('sends the whole envelope', async () => {
    const { server, runtime } = await answering(responseOf(200, '{"frames":[{"payload":1}]}'), whole);
    expect(valueIn(await runtime.call(requestWith({ n: 1 })))).toBe(1);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      id: 'e-1',
      route: ROUTE,
      headers: {},
      payload: { n: 1 },
    });
  });

  test.each([
    ['shifted by the runtime', shifted],
    ['returned unchanged', ROUTE],
  ])('accepts a route %s', async (_what, route) => {
    const { runtime } = await answering(
      responseOf(200, JSON.stringify({ frames: [{ payload: 1, route }] })),
      whole,
    );
    expect(await runtime.call(requestWith(1))).toEqual({
      kind: 'frames',
      frames: [{ payload: '1', next: ['store', 'notify'] }],
    });
  });

  test('reads 204 as no value and 400 as an error', async () => {
    const { runtime } = await answering(Buffer.from('HTTP/1.1 204 No Content\r\n\r\n'), whole);
    expect(await runtime.call(requestWith(1))).toEqual({ kind: 'empty' });
    const { runtime: strict } = await answering(
      responseOf(400, '{"error":"msg_parsing_error","details":{"type":"ValueError"}}'),
      whole,
    );
    expect(await strict.call(requestWith(1))).toMatchObject({
      kind: 'fault',
      fault: { type: 'ValueError', httpStatus: 400 },
    });
  });

  test('reads the downstream frames of an event stream', async () => {
    const stream = eventsOf(
      ['upstream', { progress: 1 }],
      ['downstream', { payload: 'a', route: shifted }],
      ['downstream', { payload: 'b', route: { prev: ['fetch', 'score'], curr: '', next: [] } }],
      ['done', {}],
    );
    const { runtime } = await answering(responseOf(200, stream, STREAM), whole);
    expect(await runtime.call(requestWith(1))).toEqual({
      kind: 'frames',
      frames: [
        { payload: '"a"', next: ['store', 'notify'] },
        { payload: '"b"', next: [] },
      ],
    });
  });

  test('reads a stream with only "done" as no value', async () => {
    const { runtime } = await answering(responseOf(200, eventsOf(['done', {}]), STREAM), whole);
    expect(await runtime.call(requestWith(1))).toEqual({ kind: 'empty' });
  });

  test.each([
    ['without "done"', eventsOf(['downstream', { payload: 1 }]), /ended without "done"/],
    ['without events', '', /ended without "done"/],
    [
      'with a truncated "done"',
      `${eventsOf(['downstream', { payload: 1 }])}event: done\ndata: {}`,
      /without "done"/,
    ],
    ['with an invalid frame', eventsOf(['downstream', '[]'], ['done', {}]), /frame 0 is not an object/],
  ])('rejects a stream %s', async (_title, stream, message) => {
    const { runtime } = await answering(responseOf(200, stream, STREAM), whole);
    expect(detailOf(await runtime.call(requestWith(1)))).toMatch(message);
  });

  test('reads an error in the stream as a fault, whatever surrounds it', async () => {
    const stream = eventsOf(
      ['downstream', { payload: 1 }],
      [
        'error',
        { error: 'processing_error', details: { type: 'ValueError', message: 'm', mro: ['Exception'] } },
      ],
      ['done', {}],
    );
    const { runtime } = await answering(responseOf(200, stream, STREAM), whole);
    expect(await runtime.call(requestWith(1))).toMatchObject({
      kind: 'fault',
      fault: { type: 'ValueError', message: 'm', mro: ['Exception'] },
    });
  });

  test('rejects a stream that the connection cuts off', async () => {
    const { runtime } = await start((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n');
    }, whole);
    expect(detailOf(await runtime.call(requestWith(1)))).toMatch(/closed|terminated/);
  });
});

describe('health check', () => {
  withoutRequestTimeouts();

  test('reports the status', async () => {
    const { runtime } = await answering(responseOf(503, 'loading'));
    expect(await runtime.problem()).toMatch(/503/);
  });

  test('does not wait for a long call', async () => {
    // The call uses the only connection of the pool; the health check has its own.
    const { server, runtime } = await start((socket, { line }) => {
      if (line === 'GET /healthz') socket.write(responseOf(200, 'ok'));
    });
    const call = runtime.call(requestWith(1));
    await expect.poll(() => server.requests.length).toBe(1);
    expect(await runtime.problem()).toBeUndefined();
    expect(server.requests.map(({ line }) => line)).toEqual(['POST /invoke', 'GET /healthz']);
    runtime.interrupt();
    expect(await call).toEqual({ kind: 'interrupted' });
  });
});

test('health check times out if the runtime never answers', async () => {
  const { runtime } = await start(() => {});
  expect(await runtime.problem()).toMatch(/not answered within 2000 ms/);
});
