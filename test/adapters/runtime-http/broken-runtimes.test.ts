import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type HttpRuntimeOptions, httpRuntime } from '../../../lib/adapters/runtime-http/http-runtime.ts';
import type { Runtime } from '../../../lib/ports/runtime.ts';
import { freePort } from '../../sidecar/free-port.ts';
import { withoutRequestTimeouts } from '../../support/without-request-timeouts.ts';
import { detailOf, requestWith, valueIn } from '../runtime-socket/a-request.ts';
import {
  type Behaviour,
  CHUNKED,
  chunkOf,
  LAST_CHUNK,
  type RawServer,
  responseOf,
  startRawServer,
} from './raw-server.ts';

/** Whatever a broken runtime does over HTTP, the call ends correctly and never hangs. */

const MAX_BYTES = 10_000;

withoutRequestTimeouts();

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function start(behave: Behaviour): Promise<{ server: RawServer; runtime: Runtime }> {
  const server = await startRawServer(behave);
  const runtime = await runtimeAt({ url: server.url });
  open.push(server);
  return { server, runtime };
}

async function runtimeAt(address: Pick<HttpRuntimeOptions, 'url' | 'socketPath'>): Promise<Runtime> {
  const runtime = await httpRuntime({
    ...address,
    protocol: 'payload',
    fanOut: 'array',
    maxAnswerBytes: MAX_BYTES,
    connections: 1,
  });
  open.unshift(runtime);
  return runtime;
}

const BROKEN: readonly (readonly [string, Behaviour, RegExp])[] = [
  ['closes without an answer', (socket) => socket.end(), /other side closed|closed/],
  ['resets the connection', (socket) => socket.resetAndDestroy(), /ECONNRESET|closed/],
  ['closes in the middle of the head', (socket) => socket.end('HTTP/1.1 200 O'), /closed|parse|Response/i],
  [
    'closes in the middle of the body',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"hal'),
    /closed|terminated/,
  ],
  [
    'closes in the middle of a chunk',
    (socket) => socket.end(`${CHUNKED}\r\n${chunkOf('{"a"')}5\r\n:1`),
    /closed|terminated/,
  ],
  ['speaks another protocol', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'), /pars|Expected HTTP/i],
  ['answers only 100 Continue', (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'), /bad response/],
  ['answers with invalid JSON', (socket) => socket.write(responseOf(200, '<html>')), /not JSON/],
  ['answers 200 with an empty body', (socket) => socket.write(responseOf(200)), /not JSON/],
  [
    'answers with invalid UTF-8',
    (socket) => socket.write(responseOf(200, Buffer.from([0x22, 0xff, 0x22]))),
    /not UTF-8/,
  ],
  [
    'sends endless headers',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write(`x-more: ${'y'.repeat(4_000)}\r\n`), 2);
      socket.on('close', () => clearInterval(timer));
    },
    /Headers Overflow|header/i,
  ],
];

const TOO_LARGE = "the runtime's answer has more than 10000 bytes (ASYA_RUNTIME_MAX_RESPONSE)";

describe('an answer above the limit ends as too-large, not as unreachable', () => {
  test.each<readonly [string, Behaviour]>([
    ['one byte too many', (socket) => socket.write(responseOf(200, `"${'x'.repeat(MAX_BYTES - 1)}"`))],
    [
      '4 GB that are only announced',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4294967296\r\n\r\n');
        socket.write('x'.repeat(MAX_BYTES + 1));
      },
    ],
    [
      'an endless answer',
      (socket) => {
        socket.write(`${CHUNKED}\r\n`);
        const timer = setInterval(() => socket.write(chunkOf('x'.repeat(1_000))), 2);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ])('%s', async (_what, behave) => {
    const { runtime } = await start((socket, request) =>
      request.body === '"well"' ? socket.write(responseOf(200, request.body)) : behave(socket, request),
    );
    expect(await runtime.call(requestWith({ n: 1 }))).toEqual({ kind: 'too-large', detail: TOO_LARGE });
    expect(valueIn(await runtime.call(requestWith('well')))).toBe('well');
  });

  test('an error above the limit is reported with its status', async () => {
    const { runtime } = await start((socket) => socket.write(responseOf(503, 'x'.repeat(MAX_BYTES + 1))));
    expect(await runtime.call(requestWith({ n: 1 }))).toMatchObject({
      kind: 'fault',
      fault: { httpStatus: 503, message: `the runtime answered 503: ${TOO_LARGE}` },
    });
  });
});

test('a timeout of 30 days does not fire at once', async () => {
  const { runtime } = await start(async (socket) => {
    await pause(100);
    socket.write(responseOf(200, '"late"'));
  });
  expect(valueIn(await runtime.call(requestWith(1, 30 * 86_400_000)))).toBe('late');
});

describe('a runtime that', () => {
  test.each(BROKEN)('%s is unreachable', async (_title, behave, message) => {
    const { server, runtime } = await start(behave);
    const end = await runtime.call(requestWith({ n: 1 }));
    expect(detailOf(end)).toMatch(message);
    expect(server.requests.map(({ body }) => body)).toEqual(['{"n":1}']);
  });

  test.each<readonly [string, Behaviour]>([
    ['never answers', () => {}],
    ['stops in the middle of the head', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-')],
    [
      'stops in the middle of the body',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"a'),
    ],
    ['stops between chunks', (socket) => socket.write(`${CHUNKED}\r\n${chunkOf('{"a":')}`)],
  ])('%s ends the call at its timeout and closes the connection', async (_what, behave) => {
    const { server, runtime } = await start((socket, request) =>
      request.body === '"well"' ? socket.write(responseOf(200, request.body)) : behave(socket, request),
    );
    // Connect first: a call that ends before its connection is established leaves the connection open for the next one.
    expect(valueIn(await runtime.call(requestWith('well')))).toBe('well');
    expect(await runtime.call(requestWith(1, 150))).toEqual({ kind: 'timeout' });
    await expect.poll(() => server.open()).toBe(0);
  });

  test('answers slowly and in chunks is read completely', async () => {
    const { runtime } = await start(async (socket) => {
      socket.write(`${CHUNKED}\r\n`);
      for (const text of ['{"slow"', ':', '"€"', '}']) {
        socket.write(chunkOf(text));
        await pause(20);
      }
      socket.write(LAST_CHUNK);
    });
    expect(valueIn(await runtime.call(requestWith(1)))).toEqual({ slow: '€' });
  });

  test('answers twice: the next call gets its own answer', async () => {
    const { server, runtime } = await start((socket, { body, connection }) => {
      socket.write(responseOf(200, body));
      if (connection === 0) socket.write(responseOf(200, '"stray"'));
    });
    expect(valueIn(await runtime.call(requestWith('first')))).toBe('first');
    await expect.poll(() => server.open()).toBe(0);
    expect(valueIn(await runtime.call(requestWith('second')))).toBe('second');
  });

  test('closes after each answer with Connection: close is called over a new connection each time', async () => {
    const { server, runtime } = await start((socket, { body }) =>
      socket.end(responseOf(200, body, { connection: 'close' })),
    );
    for (let call = 0; call < 20; call++) expect(valueIn(await runtime.call(requestWith(call)))).toBe(call);
    expect(server.accepted()).toBe(20);
  });

  test('speaks HTTP/1.0, as http.server in Python does, is called each time', async () => {
    const { runtime } = await start((socket, { body }) =>
      socket.end(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${body}`),
    );
    for (let call = 0; call < 20; call++) expect(valueIn(await runtime.call(requestWith(call)))).toBe(call);
  });

  test('does not listen is unreachable', async () => {
    const url = `http://127.0.0.1:${await freePort()}/invoke`;
    const gone = await runtimeAt({ url });
    const end = await gone.call(requestWith(1));
    expect(detailOf(end)).toMatch(/ECONNREFUSED/);
    expect(detailOf(end)).toContain(url);
    expect(await gone.problem()).toMatch(/ECONNREFUSED/);
  });

  test('has no socket file is unreachable', async () => {
    const runtime = await runtimeAt({ url: 'http://localhost/invoke', socketPath: '/nowhere/app.sock' });
    expect(detailOf(await runtime.call(requestWith(1)))).toMatch(/ENOENT.*\/nowhere\/app\.sock/);
  });
});

test('an interruption ends the calls in flight, and later calls work', async () => {
  const { server, runtime } = await start((socket, { body }) => {
    if (body !== '"hang"') socket.write(responseOf(200, body));
  });
  const call = runtime.call(requestWith('hang'));
  await expect.poll(() => server.requests.length).toBe(1);
  runtime.interrupt();
  expect(await call).toEqual({ kind: 'interrupted' });
  expect(valueIn(await runtime.call(requestWith('on')))).toBe('on');
});

test('a call that ends while it waits for a connection is not sent', async () => {
  const { server, runtime } = await start((socket, { body }) =>
    setTimeout(() => socket.write(responseOf(200, body)), 1_000),
  );
  const ended: string[] = [];
  const first = runtime.call(requestWith('first')).finally(() => ended.push('first'));
  const second = await runtime.call(requestWith('second', 50)).finally(() => ended.push('second'));
  expect(second).toEqual({ kind: 'timeout' });
  expect(valueIn(await first)).toBe('first');
  await pause(100);
  expect(server.requests.map(({ body }) => body)).toEqual(['"first"']);
  // The second call ends at its own timeout and does not wait for the first.
  expect(ended).toEqual(['second', 'first']);
});

/**
 * A server that accepts no connections until it reads a line, and then prints what it receives. In Python, because a
 * server in Node accepts connections automatically. Two connections fill its backlog, so that others cannot complete.
 */
const NOT_ACCEPTING = `import select, socket, sys
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(0)
fillers = [socket.create_connection(server.getsockname()), socket.socket()]
fillers[1].setblocking(False); fillers[1].connect_ex(server.getsockname())
print(server.getsockname()[1], flush=True)
sys.stdin.readline()
for one in fillers: one.close()
taken = []
while True:
    ready = select.select([server, sys.stdin, *taken], [], [])[0]
    if sys.stdin in ready: break
    for one in ready:
        if one is server: taken.append(server.accept()[0])
        else:
            data = one.recv(65536)
            if data: print("received", data, flush=True)
            else: taken.remove(one)
print("end", flush=True)`;

interface NotAcceptingServer {
  readonly url: string;
  accept(): void;
  /** What it received. */
  end(): Promise<string>;
}

async function startNotAcceptingServer(): Promise<NotAcceptingServer> {
  const child = spawn('python3', ['-c', NOT_ACCEPTING], { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  open.push({
    close: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  });
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  await expect.poll(() => printed, { timeout: 60_000 }).toMatch(/^\d+\n/);
  return {
    url: `http://127.0.0.1:${Number.parseInt(printed, 10)}/invoke`,
    accept: () => {
      child.stdin.write('accept\n');
    },
    end: async () => {
      child.stdin.write('end\n');
      await expect.poll(() => printed).toMatch(/end/);
      return printed;
    },
  };
}

describe('a runtime that accepts no connections', () => {
  test('ends the call at its timeout', async () => {
    const { url } = await startNotAcceptingServer();
    const runtime = await runtimeAt({ url });
    const end = await runtime.call(requestWith(1, 200));
    expect(end).toEqual({ kind: 'timeout' });
  });

  test('does not receive a call that ended before it accepts', async () => {
    const server = await startNotAcceptingServer();
    const runtime = await runtimeAt({ url: server.url });
    const call = runtime.call(requestWith('too late', 200));
    await pause(400);
    server.accept();
    expect(await call).toEqual({ kind: 'timeout' });
    // The kernel retries the connection after one second, and again after two more.
    await pause(3_000);
    expect(await server.end()).not.toContain('received');
  });
});
