import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { socketRuntime } from '../../../lib/adapters/runtime-socket/socket-runtime.ts';
import type { Runtime } from '../../../lib/ports/runtime.ts';
import { detailOf, requestWith, valueIn } from './a-request.ts';
import { type Behaviour, type FrameServer, frameOf, promiseOf, startFrameServer } from './frame-server.ts';

/** Everything a broken runtime can do over the socket ends in the right way to end, and never in a hang. */

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
  ['closes without a word', (socket) => socket.end(), /closed the connection before it answered/],
  ['is torn down', (socket) => socket.destroy(), /closed the connection before it answered/],
  [
    'closes in the middle of the length',
    (socket) => socket.end(Buffer.from([0, 0])),
    /closed the connection before it answered/,
  ],
  [
    'closes in the middle of a frame',
    (socket) => socket.end(Buffer.concat([promiseOf(10), Buffer.from('"hal')])),
    /closed the connection before it answered/,
  ],
  ['promises 4 GB', (socket) => socket.write(promiseOf(0xffffffff)), /not begin with the length of a frame/],
  [
    'speaks HTTP',
    (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1'),
    /not begin with the length of a frame; a runtime that speaks HTTP needs http\+unix:/,
  ],
  ['answers what is not JSON', (socket) => socket.write(frameOf('{"a":')), /not JSON: the text ends/],
  ['answers two values in a frame', (socket) => socket.write(frameOf('1 2')), /not JSON/],
  ['answers NaN, as Python would', (socket) => socket.write(frameOf('{"n":NaN}')), /not JSON/],
  ['answers an empty frame', (socket) => socket.write(frameOf('')), /not JSON/],
  [
    'answers what is not UTF-8',
    (socket) => socket.write(frameOf(Buffer.from([0x22, 0xc3, 0x28, 0x22]))),
    /not UTF-8/,
  ],
  [
    'answers half a character',
    (socket) => socket.write(frameOf(Buffer.from([0x22, 0xe2, 0x82, 0x22]))),
    /not UTF-8/,
  ],
  [
    'answers twice at once',
    (socket) => socket.write(Buffer.concat([frameOf('1'), frameOf('2')])),
    /more than one answer/,
  ],
];

describe('an answer above the limit is too large, not a lost connection', () => {
  test.each([
    ['one byte too many', frameOf(`"${'x'.repeat(MAX_BYTES - 1)}"`), 10_001],
    ['1 GB that is only announced', promiseOf(1_000_000_000), 1_000_000_000],
  ])('%s', async (_what, bytes, length) => {
    const { server, runtime } = await start((socket, _request, nth) => {
      socket.write(nth.connection === 0 ? bytes : frameOf('"fine"'));
    });
    expect(await runtime.call(requestWith({ n: 1 }))).toEqual({
      kind: 'too-large',
      detail: `the runtime's answer has ${length} bytes; 10000 are allowed (ASYA_RUNTIME_MAX_RESPONSE)`,
    });
    expect(valueIn(await runtime.call(requestWith({ n: 2 })))).toBe('fine');
    expect(server.requests).toEqual(['{"n":1}', '{"n":2}']);
  });
});

test('a call with a timeout of 30 days is not over at once', async () => {
  const { runtime } = await start(async (socket) => {
    await pause(100);
    socket.write(frameOf('"late"'));
  });
  expect(valueIn(await runtime.call(requestWith(1, 30 * 86_400_000)))).toBe('late');
});

describe('a runtime that', () => {
  test.each(BROKEN)('%s is as good as unreachable', async (_what, behave, words) => {
    const { server, runtime } = await start(behave);
    const end = await runtime.call(requestWith({ n: 1 }));
    expect(detailOf(end)).toMatch(words);
    // Whoever reads it in x-sink has to know which runtime.
    expect(server.requests).toEqual(['{"n":1}']);
  });

  test('does not listen any more, never did, or is no socket', async () => {
    const { server } = await start(() => {});
    const { path } = server;
    open.splice(0);
    // The file stays where a process was killed: it is put back where a server was.
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
      (socket) => socket.write(Buffer.concat([promiseOf(5), Buffer.from('"a')])),
    ],
  ])('%s costs no more than the timeout, and its connection is closed', async (_what, behave) => {
    const { server, runtime } = await start(behave);
    // Connected before: a call that is over sooner than its connection is made leaves that open for the next one.
    expect(await runtime.problem()).toBeUndefined();
    expect(await runtime.call(requestWith(1, 150))).toEqual({ kind: 'timeout' });
    await expect.poll(() => server.open()).toBe(0);
  });

  test('answers a byte at a time is only slow', async () => {
    const { runtime } = await start(async (socket) => {
      socket.setNoDelay(true);
      for (const byte of frameOf('{"slow":"€"}')) {
        socket.write(Buffer.from([byte]));
        await pause(2);
      }
    });
    expect(valueIn(await runtime.call(requestWith(1)))).toEqual({ slow: '€' });
  });

  test('answers exactly as much as is allowed is heard', async () => {
    const text = `"${'x'.repeat(MAX_BYTES - 2)}"`;
    const { runtime } = await start((socket) => socket.write(frameOf(text)));
    expect(valueIn(await runtime.call(requestWith(1)))).toBe('x'.repeat(MAX_BYTES - 2));
  });

  test('answers arrays in arrays, deeper than a stack, is heard', async () => {
    const text = '['.repeat(5_000) + ']'.repeat(5_000);
    const { runtime } = await start((socket) => socket.write(frameOf(text)));
    const end = await runtime.call(requestWith(1));
    expect(end).toEqual({ kind: 'frames', frames: [{ payload: text.slice(1, -1) }] });
  });

  test('answers a second time later: the next call hears its own answer', async () => {
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

  test('answers before it is asked: that answer is nobody’s', async () => {
    const { server, runtime } = await start(
      (socket, request) => socket.write(frameOf(request)),
      (socket, connection) => {
        if (connection === 0) socket.write(frameOf('"too early"'));
      },
    );
    expect(await runtime.problem()).toBeUndefined();
    await expect.poll(() => [server.accepted(), server.open()]).toEqual([1, 0]);
    expect(valueIn(await runtime.call(requestWith('asked')))).toBe('asked');
  });

  test('closes after each answer, as the simplest server does, is called over a new connection each time', async () => {
    const { server, runtime } = await start((socket, request) =>
      socket.write(frameOf(request), () => socket.destroy()),
    );
    for (let call = 0; call < 20; call++) expect(valueIn(await runtime.call(requestWith(call)))).toBe(call);
    expect(server.requests.length).toBe(20);
  });
});

test('a connection that a runtime closed while idle is not used again', async () => {
  const { server, runtime } = await start((socket, request) => {
    socket.write(frameOf(request));
    setTimeout(() => socket.destroy(), 10);
  });
  expect(valueIn(await runtime.call(requestWith(1)))).toBe(1);
  await expect.poll(() => server.open()).toBe(0);
  expect(valueIn(await runtime.call(requestWith(2)))).toBe(2);
  expect(server.accepted()).toBe(2);
});

test('a call that was over before the connection was made is not sent later', async () => {
  const { server, runtime } = await start((socket, request) => socket.write(frameOf(request)));
  const call = runtime.call(requestWith('too late', 1));
  // The loop stands still: when it goes on, the timer is due before the connection is told.
  const until = performance.now() + 30;
  while (performance.now() < until);
  expect(await call).toEqual({ kind: 'timeout' });
  await pause(100);
  expect(server.requests).toEqual([]);
  // The connection itself is as good as any.
  expect(valueIn(await runtime.call(requestWith('in time')))).toBe('in time');
  expect(server.accepted()).toBe(1);
});

test('a runtime that accepts nobody any more costs no more than the timeout', async () => {
  const { server: place } = await start(() => {});
  const path = join(place.path, '../full.sock');
  // In Python, because a server in Node accepts by itself.
  const script = `import socket, sys, time
server = socket.socket(socket.AF_UNIX); server.bind(sys.argv[1]); server.listen(0); print("ready", flush=True); time.sleep(60)`;
  const child = spawn('python3', ['-c', script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  try {
    const runtime = runtimeAt(path);
    const ends = await Promise.all(Array.from({ length: 5 }, () => runtime.call(requestWith(1, 300))));
    for (const { kind } of ends) expect(['timeout', 'unreachable']).toContain(kind);
    // One more that has no connection yet: the first may have got one when its call was over.
    expect(await runtimeAt(path).problem()).toMatch(/EAGAIN|full.sock/);
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
});
