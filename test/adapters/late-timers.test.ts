import { afterEach, expect, test } from 'vitest';
import { httpRuntime } from '../../lib/adapters/runtime-http/http-runtime.ts';
import { socketRuntime } from '../../lib/adapters/runtime-socket/socket-runtime.ts';
import { type RawServer, responseOf, startRawServer } from './runtime-http/raw-server.ts';
import { requestWith, valueIn } from './runtime-socket/a-request.ts';
import { type FrameServer, frameOf, startFrameServer } from './runtime-socket/frame-server.ts';

/** A process that was busy or suspended finds timers due and answers in its sockets. The answers count. */

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** Longer than a test machine pauses, so that the call has not timed out before it is answered. */
const TIMEOUT_MS = 2_000;
const COMMON = { protocol: 'payload', fanOut: 'array', maxAnswerBytes: 1_000_000 } as const;

/** Blocks this process, and with it the sidecar's part, until a call that began before has timed out. */
function blockUntilTimeout(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TIMEOUT_MS + 100);
}

test('an answer over a socket that arrived while the process was busy', async () => {
  const server: FrameServer = await startFrameServer((socket, request) => {
    socket.write(frameOf(request));
    if (request === '"busy"') blockUntilTimeout();
  });
  const runtime = socketRuntime({ ...COMMON, path: server.path });
  open.push(runtime, server);
  await runtime.call(requestWith('connected'));
  expect(valueIn(await runtime.call(requestWith('busy', TIMEOUT_MS)))).toBe('busy');
});

test('an answer over HTTP that arrived while the process was busy', async () => {
  const server: RawServer = await startRawServer((socket, { body }) => {
    socket.write(responseOf(200, body));
    if (body === '"busy"') blockUntilTimeout();
  });
  const runtime = await httpRuntime({ ...COMMON, url: server.url, connections: 1 });
  open.push(runtime, server);
  await runtime.call(requestWith('connected'));
  expect(valueIn(await runtime.call(requestWith('busy', TIMEOUT_MS)))).toBe('busy');
});
