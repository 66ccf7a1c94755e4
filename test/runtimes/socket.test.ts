import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectTo, frameOf } from './clients.ts';
import { LANGUAGES } from './languages.ts';
import {
  endAll,
  launch,
  type RuntimeProcess,
  startForTest,
  startRuntime,
  temporaryFolder,
  untilBegun,
  waitFor,
  within,
} from './runtime-process.ts';

const folder = temporaryFolder();
afterAll(async () => {
  await endAll();
  rmSync(folder, { recursive: true });
});

describe.each(LANGUAGES)('$name runtime, socket protocol', (language) => {
  let runtime: RuntimeProcess;
  const handler = language.handler('echo');
  const at = (name: string): string => join(folder, `${language.name}-${name}`);
  beforeAll(async () => {
    runtime = await startRuntime({ language, handler, env: { ASYA_RUNTIME_MAX_REQUEST: '1000' } });
  });

  it('logs and closes a connection that announces too large a frame', async () => {
    const connection = await connectTo(runtime.socketPath);
    connection.socket.write(Buffer.of(0, 0, 0x03, 0xe9));
    expect(await connection.receive()).toBeUndefined();
    await waitFor(
      () =>
        /a frame of 1001 bytes is larger than ASYA_RUNTIME_MAX_REQUEST \(1000 bytes\)/.test(runtime.stderr()),
      'the line',
    );
    expect(await (await connectTo(runtime.socketPath)).call('x'.repeat(998))).toBe('x'.repeat(998));
  });

  it('accepts 16 MiB by default', async () => {
    const large = await startForTest({ language, handler });
    const text = JSON.stringify('x'.repeat(16 * 1024 * 1024 - 2));
    const connection = await connectTo(large.socketPath);
    connection.send(text);
    expect((await connection.receive())?.length).toBe(text.length);
    connection.socket.write(Buffer.of(1, 0, 0, 1));
    expect(await connection.receive()).toBeUndefined();
  });

  it.each([
    ['part of a length', Buffer.of(0, 0)],
    ['part of a body', frameOf('"12345"').subarray(0, 7)],
  ])('keeps running after a client sends %s and disconnects', async (_title, bytes) => {
    const logged = () => runtime.stderr().split('in the middle of a frame').length;
    const before = logged();
    const connection = await connectTo(runtime.socketPath);
    connection.socket.end(bytes);
    expect(await connection.receive()).toBeUndefined();
    await waitFor(() => logged() > before, 'the line');
    expect(await (await connectTo(runtime.socketPath)).call(1)).toBe(1);
  });

  it('answers a client that has closed its side', async () => {
    const connection = await connectTo(runtime.socketPath);
    connection.socket.end(frameOf('1'));
    expect(await connection.receive()).toBe('1');
    expect(await connection.receive()).toBeUndefined();
  });

  it('keeps running after a client disconnects', async () => {
    const slow = await startForTest({ language, handler: language.handler('sleep') });
    const gone = await connectTo(slow.socketPath);
    gone.send('0.3');
    await untilBegun(slow);
    gone.socket.destroy();
    const staying = await connectTo(slow.socketPath);
    expect(await staying.call(0.5)).toBe('slept');
    expect(await staying.call(0)).toBe('slept');
    expect(slow.stderr().trim().split('\n')).toHaveLength(1);
  });

  it('creates the folder of its socket, and removes the socket when it exits', async () => {
    const path = at('made/deep/app.sock');
    const made = await startForTest({ language, handler, env: { ASYA_SOCKET_PATH: path } });
    expect(statSync(path).isSocket()).toBe(true);
    made.child.kill('SIGTERM');
    expect(await within(made.ended, 'the end')).toEqual({ code: 0, signal: null });
    expect(existsSync(path)).toBe(false);
  });

  it('prefers ASYA_RUNTIME_URL over ASYA_SOCKET_PATH', async () => {
    const path = at('url.sock');
    const env = { ASYA_RUNTIME_URL: `unix:${path}`, ASYA_SOCKET_PATH: at('other.sock') };
    await startForTest({ language, handler, env });
    expect(await (await connectTo(path)).call(1)).toBe(1);
    expect(existsSync(at('other.sock'))).toBe(false);
  });

  it('replaces a stale socket file', async () => {
    const path = at('stale.sock');
    const first = await startForTest({ language, handler, env: { ASYA_SOCKET_PATH: path } });
    first.child.kill('SIGKILL');
    await within(first.ended, 'the end');
    expect(statSync(path).isSocket()).toBe(true);
    const second = await startForTest({ language, handler, env: { ASYA_SOCKET_PATH: path } });
    expect(await (await connectTo(second.socketPath)).call(1)).toBe(1);
  });

  it('does not start on the socket of a running runtime', async () => {
    const env = { ASYA_SOCKET_PATH: runtime.socketPath };
    const second = launch({ language, handler, env });
    expect(await within(second.ended, 'the end')).toEqual({ code: 1, signal: null });
    expect(second.stderr()).toBe(
      `asya-runtime: cannot host "${handler}": another process listens at ${runtime.socketPath}; ` +
        'stop it, or set ASYA_SOCKET_PATH to another path\n',
    );
    expect(await (await connectTo(runtime.socketPath)).call(1)).toBe(1);
  });

  it('does not start on the socket of another server', async () => {
    const path = at('foreign.sock');
    const foreign = createServer().listen(path);
    try {
      const second = launch({ language, handler, env: { ASYA_SOCKET_PATH: path } });
      expect(await within(second.ended, 'the end')).toEqual({ code: 1, signal: null });
      expect(second.stderr()).toMatch(/another process listens at/);
    } finally {
      foreign.close();
    }
  });

  it.each(['file', 'folder'])('does not replace a %s', async (kind) => {
    const path = at(`precious-${kind}`);
    if (kind === 'file') writeFileSync(path, 'precious');
    else mkdirSync(path);
    const refused = launch({ language, handler, env: { ASYA_SOCKET_PATH: path } });
    expect(await within(refused.ended, 'the end')).toEqual({ code: 1, signal: null });
    expect(refused.stderr()).toMatch(/exists and is not a socket; remove it/);
    expect(existsSync(path)).toBe(true);
    if (kind === 'file') expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it.each([
    ['a path that is too long', `/tmp/${'x'.repeat(120)}.sock`],
    ['a folder that cannot be created', '/dev/null/deep/app.sock'],
  ])('reports %s', async (_title, path) => {
    const refused = launch({ language, handler, env: { ASYA_SOCKET_PATH: path } });
    expect(await within(refused.ended, 'the end')).toEqual({ code: 1, signal: null });
    expect(refused.stderr()).toMatch(
      /^asya-runtime: cannot host ".*": cannot listen at unix:.*; set ASYA_RUNTIME_URL to a free address\n$/,
    );
  });
});
