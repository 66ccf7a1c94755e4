import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { socketRuntime } from '../../../lib/adapters/runtime-socket/socket-runtime.ts';
import type { Runtime } from '../../../lib/ports/runtime.ts';
import { detailOf, requestWith, valueIn } from './a-request.ts';
import { type Behaviour, type FrameServer, frameOf, headerOf, startFrameServer } from './frame-server.ts';

/** Whatever a broken runtime does over the socket, the call ends correctly and never hangs. */

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const MAX_BYTES = 10_000;

async function start(
  behave: Behaviour,
  greet?: Parameters<typeof startFrameServer>[1],
): Promise<{ server: FrameServer; runtime: Runtime }> {
  const server = await startFrameServer(behave, greet);
  const runtime = runtimeAt(server.path);
  open.push(server);
  return { server, runtime };
}

function runtimeAt(path: string): Runtime {
  const runtime = socketRuntime({ path, protocol: 'payload', fanOut: 'array', maxAnswerBytes: MAX_BYTES });
  open.unshift(runtime);
  return runtime;
}

const BROKEN: readonly (readonly [string, Behaviour, RegExp])[] = [
  ['closes without an answer', (socket) => socket.end(), /closed the connection before it answered/],
  ['destroys the connection', (socket) => socket.destroy(), /closed the connection before it answered/],
  [
    'closes in the middle of the length',
    (socket) => socket.end(Buffer.from([0, 0])),
    /closed the connection before it answered/,
  ],
  [
    'closes in the middle of a frame',
    (socket) => socket.end(Buffer.concat([headerOf(10), Buffer.from('"hal')])),
    /closed the connection before it answered/,
  ],
  ['announces 4 GB', (socket) => socket.write(headerOf(0xffffffff)), /does not start with a frame length/],
  [
    'speaks HTTP',
    (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1'),
    /does not start with a frame length; if the runtime speaks HTTP, use http\+unix:/,
  ],
  [
    'answers with invalid JSON',
    (socket) => socket.write(frameOf('{"a":')),
    /not JSON: unexpected end of text/,
  ],
  ['answers with two values in a frame', (socket) => socket.write(frameOf('1 2')), /not JSON/],
  ['answers with NaN, as Python would', (socket) => socket.write(frameOf('{"n":NaN}')), /not JSON/],
  ['answers with an empty frame', (socket) => socket.write(frameOf('')), /not JSON/],
  [
    'answers with invalid UTF-8',
    (socket) => socket.write(frameOf(Buffer.from([0x22, 0xc3, 0x28, 0x22]))),
    /not UTF-8/,
  ],
  [
    'answers with a truncated character',
    (socket) => socket.write(frameOf(Buffer.from([0x22, 0xe2, 0x82, 0x22]))),
    /not UTF-8/,
  ],
  [
    'answers twice in one write',
    (socket) => socket.write(Buffer.concat([frameOf('1'), frameOf('2')])),
    /more than one answer/,
  ],
];

describe('an answer above the limit ends as too-large, not as unreachable', () => {
  test.each([
    ['one byte too many', frameOf(`"${'x'.repeat(MAX_BYTES - 1)}"`), 10_001],
    ['1 GB that is only announced', headerOf(1_000_000_000), 1_000_000_000],
  ])('%s', async (_what, bytes, length) => {
    const { server, runtime } = await start((socket, _request, nth) => {
      socket.write(nth.connection === 0 ? bytes : frameOf('"fine"'));
    });
    expect(await runtime.call(requestWith({ n: 1 }))).toEqual({
      kind: 'too-large',
      detail: `the runtime's answer has ${length} bytes; at most 10000 are allowed (ASYA_RUNTIME_MAX_RESPONSE)`,
    });
    expect(valueIn(await runtime.call(requestWith({ n: 2 })))).toBe('fine');
    expect(server.requests).toEqual(['{"n":1}', '{"n":2}']);
  });
});

test('a timeout of 30 days does not fire at once', async () => {
  const { runtime } = await start(async (socket) => {
    await pause(100);
    socket.write(frameOf('"late"'));
  });
  expect(valueIn(await runtime.call(requestWith(1, 30 * 86_400_000)))).toBe('late');
});

describe('a runtime that', () => {
  test.each(BROKEN)('%s is unreachable', async (_title, behave, message) => {
    const { server, runtime } = await start(behave);
    const end = await runtime.call(requestWith({ n: 1 }));
    expect(detailOf(end)).toMatch(message);
    expect(server.requests).toEqual(['{"n":1}']);
  });

  test('does not listen, or is not a socket, is unreachable', async () => {
    const { server } = await start(() => {});
    const { path } = server;
    open.splice(0);
    await server.close();
    expect(detailOf(await runtimeAt(path).call(requestWith(1)))).toMatch(/ENOENT/);
    const { server: another } = await start(() => {});
    const file = join(another.path, '../plain-file');
    writeFileSync(file, '');
    expect(detailOf(await runtimeAt(file).call(requestWith(1)))).toMatch(/ECONNREFUSED|ENOTSOCK/);
    expect(await runtimeAt(file).problem()).toMatch(/plain-file/);
  });

  test.each<readonly [string, Behaviour]>([
    ['never answers', () => {}],
    ['stops in the middle of the length', (socket) => socket.write(Buffer.from([0, 0, 0]))],
    [
      'stops in the middle of a frame',
      (socket) => socket.write(Buffer.concat([headerOf(5), Buffer.from('"a')])),
    ],
  ])('%s ends the call at its timeout and closes the connection', async (_what, behave) => {
    const { server, runtime } = await start(behave);
    // Connect first: a call that ends before its connection is established leaves the connection open for the next one.
    expect(await runtime.problem()).toBeUndefined();
    expect(await runtime.call(requestWith(1, 150))).toEqual({ kind: 'timeout' });
    await expect.poll(() => server.open()).toBe(0);
  });

  test('answers byte by byte is read completely', async () => {
    const { runtime } = await start(async (socket) => {
      socket.setNoDelay(true);
      for (const byte of frameOf('{"slow":"€"}')) {
        socket.write(Buffer.from([byte]));
        await pause(2);
      }
    });
    expect(valueIn(await runtime.call(requestWith(1)))).toEqual({ slow: '€' });
  });

  test('answers with exactly the allowed size is read', async () => {
    const text = `"${'x'.repeat(MAX_BYTES - 2)}"`;
    const { runtime } = await start((socket) => socket.write(frameOf(text)));
    expect(valueIn(await runtime.call(requestWith(1)))).toBe('x'.repeat(MAX_BYTES - 2));
  });

  test('answers with arrays nested deeper than the stack is read', async () => {
    const text = '['.repeat(5_000) + ']'.repeat(5_000);
    const { runtime } = await start((socket) => socket.write(frameOf(text)));
    const end = await runtime.call(requestWith(1));
    expect(end).toEqual({ kind: 'frames', frames: [{ payload: text.slice(1, -1) }] });
  });

  test('answers a second time later: the next call gets its own answer', async () => {
    let sendStray = () => {};
    const { server, runtime } = await start((socket, request, nth) => {
      socket.write(frameOf(request));
      if (nth.connection === 0) sendStray = () => socket.write(frameOf('"stray"'));
    });
    expect(valueIn(await runtime.call(requestWith('first')))).toBe('first');
    sendStray();
    await expect.poll(() => server.open()).toBe(0);
    expect(valueIn(await runtime.call(requestWith('second')))).toBe('second');
    expect(server.accepted()).toBe(2);
  });

  test('answers before a request: that answer is discarded', async () => {
    const { server, runtime } = await start(
      (socket, request) => socket.write(frameOf(request)),
      (socket, connection) => {
        if (connection === 0) socket.write(frameOf('"too early"'));
      },
    );
    expect(await runtime.problem()).toBeUndefined();
    await expect.poll(() => [server.accepted(), server.open()]).toEqual([1, 0]);
    expect(valueIn(await runtime.call(requestWith('requested')))).toBe('requested');
  });

  test('closes after each answer is called over a new connection each time', async () => {
    const { server, runtime } = await start((socket, request) =>
      socket.write(frameOf(request), () => socket.destroy()),
    );
    for (let call = 0; call < 20; call++) expect(valueIn(await runtime.call(requestWith(call)))).toBe(call);
    expect(server.requests.length).toBe(20);
  });
});

test('does not reuse a connection that the runtime closed while idle', async () => {
  const { server, runtime } = await start((socket, request) => {
    socket.write(frameOf(request));
    setTimeout(() => socket.destroy(), 10);
  });
  expect(valueIn(await runtime.call(requestWith(1)))).toBe(1);
  await expect.poll(() => server.open()).toBe(0);
  expect(valueIn(await runtime.call(requestWith(2)))).toBe(2);
  expect(server.accepted()).toBe(2);
});

test('does not send a call that ended before the connection was established', async () => {
  const { server, runtime } = await start((socket, request) => socket.write(frameOf(request)));
  const call = runtime.call(requestWith('too late', 1));
  // Blocks the event loop, so that the timer is due before the connection is reported.
  const until = performance.now() + 30;
  while (performance.now() < until);
  expect(await call).toEqual({ kind: 'timeout' });
  await pause(100);
  expect(server.requests).toEqual([]);
  // The connection itself can be reused.
  expect(valueIn(await runtime.call(requestWith('in time')))).toBe('in time');
  expect(server.accepted()).toBe(1);
});

test('ends a call at its timeout if the runtime accepts no connections', async () => {
  const { server: place } = await start(() => {});
  const path = join(place.path, '../full.sock');
  // In Python, because a server in Node accepts connections automatically.
  const script = `import socket, sys, time
server = socket.socket(socket.AF_UNIX); server.bind(sys.argv[1]); server.listen(0); print("ready", flush=True); time.sleep(60)`;
  const child = spawn('python3', ['-c', script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  try {
    const runtime = runtimeAt(path);
    const ends = await Promise.all(Array.from({ length: 5 }, () => runtime.call(requestWith(1, 300))));
    for (const { kind } of ends) expect(['timeout', 'unreachable']).toContain(kind);
    // A new client, because the first one may have been connected after its call ended.
    expect(await runtimeAt(path).problem()).toMatch(/EAGAIN|full.sock/);
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
});
