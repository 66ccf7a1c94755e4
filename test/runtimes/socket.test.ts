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

describe.each(LANGUAGES)('the $name runtime on its socket', (language) => {
  let runtime: RuntimeProcess;
  const handler = language.handler('echo');
  const at = (name: string): string => join(folder, `${language.name}-${name}`);
  beforeAll(async () => {
    runtime = await startRuntime({ language, handler, env: { ASYA_RUNTIME_MAX_REQUEST: '1000' } });
  });

  it('closes a connection that announces too much, tells it, and goes on', async () => {
    const connection = await connectTo(runtime.socketPath);
    connection.socket.write(Buffer.of(0, 0, 0x03, 0xe9));
    expect(await connection.receive()).toBeUndefined();
    await waitFor(
      () => /a frame of 1001 bytes came, ASYA_RUNTIME_MAX_REQUEST is 1000/.test(runtime.stderr()),
      'the line',
    );
    expect(await (await connectTo(runtime.socketPath)).call('x'.repeat(998))).toBe('x'.repeat(998));
  });

  it('takes 16 MiB where nothing else is said', async () => {
    const large = await startForTest({ language, handler });
    const text = JSON.stringify('x'.repeat(16 * 1024 * 1024 - 2));
    const connection = await connectTo(large.socketPath);
    connection.send(text);
    expect((await connection.receive())?.length).toBe(text.length);
    connection.socket.write(Buffer.of(1, 0, 0, 1));
    expect(await connection.receive()).toBeUndefined();
  });

  it.each([
    ['half a length', Buffer.of(0, 0)],
    ['half a body', frameOf('"12345"').subarray(0, 7)],
  ])('goes on after %s and an end', async (_title, bytes) => {
    const told = () => runtime.stderr().split('in the middle of a frame').length;
    const before = told();
    const connection = await connectTo(runtime.socketPath);
    connection.socket.end(bytes);
    expect(await connection.receive()).toBeUndefined();
    await waitFor(() => told() > before, 'the line');
    expect(await (await connectTo(runtime.socketPath)).call(1)).toBe(1);
  });

  it('answers a caller that has said all it will', async () => {
    const connection = await connectTo(runtime.socketPath);
    connection.socket.end(frameOf('1'));
    expect(await connection.receive()).toBe('1');
    expect(await connection.receive()).toBeUndefined();
  });

  it('goes on when whoever asked has gone', async () => {
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

  it('makes the folder of its socket, and leaves nothing there', async () => {
    const path = at('made/deep/app.sock');
    const made = await startForTest({ language, handler, env: { ASYA_SOCKET_PATH: path } });
    expect(statSync(path).isSocket()).toBe(true);
    made.child.kill('SIGTERM');
    expect(await within(made.ended, 'the end')).toEqual({ code: 0, signal: null });
    expect(existsSync(path)).toBe(false);
  });

  it('listens where ASYA_RUNTIME_URL says before ASYA_SOCKET_PATH', async () => {
    const path = at('url.sock');
    const env = { ASYA_RUNTIME_URL: `unix:${path}`, ASYA_SOCKET_PATH: at('other.sock') };
    await startForTest({ language, handler, env });
    expect(await (await connectTo(path)).call(1)).toBe(1);
    expect(existsSync(at('other.sock'))).toBe(false);
  });

  it('takes the place of a socket that nobody answers on', async () => {
    const path = at('stale.sock');
    const first = await startForTest({ language, handler, env: { ASYA_SOCKET_PATH: path } });
    first.child.kill('SIGKILL');
    await within(first.ended, 'the end');
    expect(statSync(path).isSocket()).toBe(true);
    const second = await startForTest({ language, handler, env: { ASYA_SOCKET_PATH: path } });
    expect(await (await connectTo(second.socketPath)).call(1)).toBe(1);
  });

  it('refuses the socket of a runtime that lives, and leaves it alone', async () => {
    const env = { ASYA_SOCKET_PATH: runtime.socketPath };
    const second = launch({ language, handler, env });
    expect(await within(second.ended, 'the end')).toEqual({ code: 1, signal: null });
    expect(second.stderr()).toBe(
      `asya-runtime: cannot host "${handler}": another runtime answers at ${runtime.socketPath}; ` +
        'stop it, or set ASYA_SOCKET_PATH to another path\n',
    );
    expect(await (await connectTo(runtime.socketPath)).call(1)).toBe(1);
  });

  it('refuses the socket of any other server too', async () => {
    const path = at('foreign.sock');
    const foreign = createServer().listen(path);
    try {
      const second = launch({ language, handler, env: { ASYA_SOCKET_PATH: path } });
      expect(await within(second.ended, 'the end')).toEqual({ code: 1, signal: null });
      expect(second.stderr()).toMatch(/another runtime answers at/);
    } finally {
      foreign.close();
    }
  });

  it.each(['file', 'folder'])('does not touch a %s in its place', async (kind) => {
    const path = at(`precious-${kind}`);
    if (kind === 'file') writeFileSync(path, 'precious');
    else mkdirSync(path);
    const refused = launch({ language, handler, env: { ASYA_SOCKET_PATH: path } });
    expect(await within(refused.ended, 'the end')).toEqual({ code: 1, signal: null });
    expect(refused.stderr()).toMatch(/is there and is no socket; remove it/);
    expect(existsSync(path)).toBe(true);
    if (kind === 'file') expect(readFileSync(path, 'utf8')).toBe('precious');
  });

  it.each([
    ['a path that is too long', `/tmp/${'x'.repeat(120)}.sock`],
    ['a folder that cannot be made', '/dev/null/deep/app.sock'],
  ])('says so when it is given %s', async (_title, path) => {
    const refused = launch({ language, handler, env: { ASYA_SOCKET_PATH: path } });
    expect(await within(refused.ended, 'the end')).toEqual({ code: 1, signal: null });
    expect(refused.stderr()).toMatch(/^asya-runtime: cannot host ".*": cannot listen at .*; set ASYA_.*\n$/);
  });
});
