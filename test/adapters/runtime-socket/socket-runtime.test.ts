import { afterEach, describe, expect, test } from 'vitest';
import {
  type SocketRuntimeOptions,
  socketRuntime,
} from '../../../lib/adapters/runtime-socket/socket-runtime.ts';
import type { Runtime } from '../../../lib/ports/runtime.ts';
import { A_LONG_TIME_MS, detailOf, envelopeWith, ROUTE, requestWith, valueIn } from './a-request.ts';
import { type Behaviour, type FrameServer, frameOf, startFrameServer } from './frame-server.ts';

/** Frames over a Unix socket: requests, the meaning of answers, and the use of connections. */

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function start(
  behave: Behaviour,
  options: Partial<SocketRuntimeOptions> = {},
): Promise<{ server: FrameServer; runtime: Runtime }> {
  const server = await startFrameServer(behave);
  const runtime = socketRuntime({
    path: server.path,
    protocol: 'payload',
    fanOut: 'array',
    maxAnswerBytes: 6 * 1024 * 1024,
    ...options,
  });
  open.push(runtime, server);
  return { server, runtime };
}

const answering = (text: string, options?: Partial<SocketRuntimeOptions>) =>
  start((socket) => socket.write(frameOf(text)), options);

describe('payload protocol', () => {
  test('sends the payload unchanged', async () => {
    const { server, runtime } = await answering('1');
    const envelope = { ...envelopeWith(null), payload: '{"n":12345678901234567890, "n":1e400}' as never };
    await runtime.call({ envelope, timeoutMs: A_LONG_TIME_MS });
    expect(server.requests).toEqual(['{"n":12345678901234567890, "n":1e400}']);
  });

  test.each([
    '0',
    'false',
    '""',
    '{}',
    '"text"',
    '{"error":"a value"}',
    '{"error":7,"message":"m","type":"t"}',
  ])('reads %s as one value, byte for byte', async (text) => {
    const { runtime } = await answering(` ${text}\n`);
    expect(await runtime.call(requestWith(1))).toEqual({ kind: 'frames', frames: [{ payload: text }] });
  });

  test('reads an array as several values, each byte for byte', async () => {
    const { runtime } = await answering('[ 1.0, {"a":1, "a":2} ,null]');
    expect(await runtime.call(requestWith(1))).toEqual({
      kind: 'frames',
      frames: [{ payload: '1.0' }, { payload: '{"a":1, "a":2}' }, { payload: 'null' }],
    });
  });

  test.each(['null', '[]', ' [ ] '])('reads %s as no value', async (text) => {
    const { runtime } = await answering(text);
    expect(await runtime.call(requestWith(1))).toEqual({ kind: 'empty' });
  });

  test('reads an array as one value without fan-out', async () => {
    const { runtime } = await answering('[]', { fanOut: 'never' });
    expect(await runtime.call(requestWith(1))).toEqual({ kind: 'frames', frames: [{ payload: '[]' }] });
  });

  test.each([
    [
      'flat',
      '{"error":"code","message":"m","type":"pkg.Type","mro":["Exception"],"traceback":"tb","http_status":503,"retry_after":7}',
      { type: 'pkg.Type', mro: ['Exception'], message: 'm', traceback: 'tb', httpStatus: 503, retryAfter: 7 },
    ],
    [
      'nested',
      '{"error":"code","details":{"type":"T","message":"m","mro":["E"],"traceback":"tb"}}',
      { type: 'T', mro: ['E'], message: 'm', traceback: 'tb' },
    ],
    [
      'nested without a type',
      '{"error":"code","details":{}}',
      { type: 'code', mro: [], message: 'code', traceback: '' },
    ],
  ])('reads an error object as a fault: %s', async (_shape, text, fault) => {
    const { runtime } = await answering(text);
    expect(await runtime.call(requestWith(1))).toEqual({ kind: 'fault', fault });
  });

  test('transfers megabytes in both directions', async () => {
    const { runtime } = await start((socket, request) => socket.write(frameOf(request)));
    const long = '€'.repeat(1_500_000);
    expect(valueIn(await runtime.call(requestWith(long)))).toBe(long);
  });
});

describe('envelope protocol', () => {
  const whole = { protocol: 'envelope' } as const;

  test('sends the whole envelope', async () => {
    const { server, runtime } = await answering('null', whole);
    const envelope = envelopeWith(
      { n: 1 },
      { headers: { colour: 'blue' }, status: { attempt: 2 }, team: 'a' },
    );
    expect(await runtime.call({ envelope, timeoutMs: A_LONG_TIME_MS })).toEqual({ kind: 'empty' });
    expect(JSON.parse(server.requests[0] ?? '')).toEqual({
      id: 'e-1',
      route: ROUTE,
      headers: { colour: 'blue' },
      payload: { n: 1 },
      status: { attempt: 2 },
      team: 'a',
    });
  });

  test.each([
    ['shifted by the runtime', { prev: ['fetch', 'score'], curr: 'store', next: ['notify'] }],
    ['returned unchanged', ROUTE],
  ])('accepts a route %s', async (_what, route) => {
    const { runtime } = await answering(JSON.stringify({ frames: [{ payload: 1, route }] }), whole);
    expect(await runtime.call(requestWith(1))).toEqual({
      kind: 'frames',
      frames: [{ payload: '1', next: ['store', 'notify'] }],
    });
  });

  test('accepts a route shifted to its end', async () => {
    const route = { prev: ['fetch', 'score'], curr: '', next: [] };
    const { runtime } = await answering(JSON.stringify({ frames: [{ payload: 1, route }] }), whole);
    expect(await runtime.call(requestWith(1))).toEqual({
      kind: 'frames',
      frames: [{ payload: '1', next: [] }],
    });
  });

  test('reads headers and several frames', async () => {
    const frames = [{ payload: [1], headers: { colour: 'red' } }, { payload: null }];
    const { runtime } = await answering(JSON.stringify({ frames }), whole);
    expect(await runtime.call(requestWith(1))).toEqual({
      kind: 'frames',
      frames: [{ payload: '[1]', headers: new Map([['colour', '"red"']]) }, { payload: 'null' }],
    });
  });

  test('reads an empty list of frames as no value', async () => {
    const { runtime } = await answering('{"frames":[]}', whole);
    expect(await runtime.call(requestWith(1))).toEqual({ kind: 'empty' });
  });

  test('reads an error object as a fault', async () => {
    const { runtime } = await answering('{"error":"c","message":"m","type":"T"}', whole);
    expect(await runtime.call(requestWith(1))).toMatchObject({ kind: 'fault', fault: { type: 'T' } });
  });

  test.each([
    ['a bare value', '{"n":1}', /expected {"frames":\[...\]}, null or an error object/],
    ['frames that are not a list', '{"frames":{}}', /expected {"frames":/],
    ['a frame that is not an object', '{"frames":[1]}', /frame 0 is not an object/],
    ['a frame without a payload', '{"frames":[{"payload":1},{}]}', /frame 1 has no payload/],
    [
      'a route without prev and curr',
      '{"frames":[{"payload":1,"route":{"next":[]}}]}',
      /frame 0 has a route without prev, curr and next/,
    ],
    [
      'headers that are not an object',
      '{"frames":[{"payload":1,"headers":[]}]}',
      /headers that are not an object/,
    ],
  ])('rejects %s', async (_title, text, message) => {
    const { runtime } = await answering(text, whole);
    expect(detailOf(await runtime.call(requestWith(1)))).toMatch(message);
  });
});

describe('connections', () => {
  test('sequential calls share one connection', async () => {
    const { server, runtime } = await start((socket, request) => socket.write(frameOf(request)));
    expect(await runtime.problem()).toBeUndefined();
    for (let call = 0; call < 50; call++) expect(valueIn(await runtime.call(requestWith(call)))).toBe(call);
    expect(server.accepted()).toBe(1);
  });

  test('concurrent calls use one connection each, and reuse them', async () => {
    const { server, runtime } = await start((socket, request) =>
      setTimeout(() => socket.write(frameOf(request)), 20),
    );
    for (let round = 0; round < 3; round++) {
      const values = await Promise.all(
        [0, 1, 2, 3, 4].map((n) => runtime.call(requestWith(n)).then(valueIn)),
      );
      expect(values).toEqual([0, 1, 2, 3, 4]);
    }
    expect(server.accepted()).toBe(5);
  });

  test('a timeout closes only its own connection', async () => {
    const { server, runtime } = await start((socket, request) => {
      if (request !== '"hang"') setTimeout(() => socket.write(frameOf(request)), 150);
    });
    const [hung, fine] = await Promise.all([
      runtime.call(requestWith('hang', 50)),
      runtime.call(requestWith('fine')),
    ]);
    expect(hung).toEqual({ kind: 'timeout' });
    expect(valueIn(fine)).toBe('fine');
    expect(valueIn(await runtime.call(requestWith('again')))).toBe('again');
    expect(server.accepted()).toBe(2);
  });

  test('an interruption ends every call in flight, and later calls work', async () => {
    const { server, runtime } = await start((socket, request) => {
      if (request !== '"hang"') socket.write(frameOf(request));
    });
    const calls = [runtime.call(requestWith('hang')), runtime.call(requestWith('hang'))];
    await expect.poll(() => server.requests.length).toBe(2);
    runtime.interrupt();
    for (const end of await Promise.all(calls)) expect(end).toEqual({ kind: 'interrupted' });
    await expect.poll(() => server.open()).toBe(0);
    expect(valueIn(await runtime.call(requestWith('on')))).toBe('on');
  });

  test('close() closes every connection', async () => {
    const { server, runtime } = await start((socket, request) => socket.write(frameOf(request)));
    await Promise.all([1, 2, 3].map((n) => runtime.call(requestWith(n))));
    await runtime.close();
    await expect.poll(() => server.open()).toBe(0);
  });
});
