import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { isAlive } from '../support/pids.ts';
import { ask, connectTo } from './clients.ts';
import { HANDLERS, LANGUAGES, type Language } from './languages.ts';
import {
  cleanEnvironment,
  endAll,
  launch,
  READY,
  startForTest,
  temporaryFolder,
  untilBegun,
  waitFor,
  within,
} from './runtime-process.ts';

afterAll(endAll);

/** Holds the other end of the runtime's stdin, as the sidecar does, and prints the runtime's pid. */
const PARENT = `
const { spawn } = require('node:child_process');
const child = spawn(process.argv[1], process.argv.slice(2), { stdio: ['pipe', 'inherit', 'inherit'] });
console.log('pid ' + child.pid);
setInterval(() => {}, 1000);
`;

interface Family {
  readonly parent: ChildProcess;
  readonly pid: number;
  readonly socketPath: string;
  readonly stdout: () => string;
}

async function startFamily(language: Language, handler: string): Promise<Family> {
  const folder = temporaryFolder();
  const socketPath = join(folder, 'app.sock');
  const parent = spawn(
    process.execPath,
    ['-e', PARENT, language.command, language.script, language.handler(handler)],
    {
      cwd: HANDLERS,
      env: cleanEnvironment({ ASYA_PARENT_PIPE: '1', ASYA_SOCKET_PATH: socketPath }),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [parent.stdout, parent.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const pid = (): number => Number(/pid (\d+)\n/.exec(output)?.[1] ?? 0);
  onTestFinished(() => {
    parent.kill('SIGKILL');
    if (pid() > 0 && isAlive(pid())) process.kill(pid(), 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  await waitFor(() => pid() > 0 && READY.test(output), 'the runtime');
  return { parent, pid: pid(), socketPath, stdout: () => output };
}

describe.each(LANGUAGES)('$name runtime', (language) => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'on %s finishes the calls in flight, then exits',
    async (signal) => {
      const runtime = await startForTest({ language, handler: language.handler('sleep') });
      const [busy, idle] = [await connectTo(runtime.socketPath), await connectTo(runtime.socketPath)];
      expect(await idle.call(0)).toBe('slept');
      const answer = busy.call(1);
      await untilBegun(runtime, 2);
      runtime.child.kill(signal);
      await waitFor(() => !existsSync(runtime.socketPath), 'the socket file to disappear');
      await expect(connectTo(runtime.socketPath)).rejects.toThrow(/ENOENT|ECONNREFUSED/);
      expect(await answer).toBe('slept');
      expect(await within(runtime.ended, 'the end')).toEqual({ code: 0, signal: null });
    },
  );

  it('on SIGTERM finishes an HTTP request and accepts no others', async () => {
    const runtime = await startForTest({ language, handler: language.handler('sleep'), over: 'http' });
    const answer = ask(runtime, { body: '1' });
    await untilBegun(runtime);
    runtime.child.kill('SIGTERM');
    runtime.child.kill('SIGTERM');
    const another = () => ask(runtime, { body: '0' }).then(String, () => 'refused');
    await expect.poll(another).toBe('refused');
    expect((await answer).text).toBe('"slept"');
    expect(await within(runtime.ended, 'the end')).toEqual({ code: 0, signal: null });
  });

  it('on SIGTERM without calls in flight exits at once, despite open connections', async () => {
    const runtime = await startForTest({ language, handler: language.handler('later') });
    const connection = await connectTo(runtime.socketPath);
    expect(await connection.call(1)).toBe(1);
    runtime.child.kill('SIGTERM');
    expect(await within(runtime.ended, 'the end', 60_000)).toEqual({ code: 0, signal: null });
    expect(await connection.receive()).toBeUndefined();
  });

  it('on SIGTERM waits at most 5 s for a call', async () => {
    const runtime = await startForTest({ language, handler: language.handler('sleep') });
    (await connectTo(runtime.socketPath)).send('60');
    await untilBegun(runtime);
    runtime.child.kill('SIGTERM');
    expect(await within(runtime.ended, 'the end', 60_000)).toEqual({ code: 0, signal: null });
    expect(runtime.stderr()).toMatch(/exiting after 5 s with unfinished calls: 1\n/);
  });

  it.each(['sleep', 'spin'])('exits when its parent is killed, even during %s', async (handler) => {
    const { parent, pid, socketPath, stdout } = await startFamily(language, handler);
    (await connectTo(socketPath)).send('60');
    await untilBegun({ stdout });
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await waitFor(() => !isAlive(pid), 'the runtime to exit');
  });

  it.each(['sleep', 'spin', 'echo'])('exits when stdin closes, even during %s', async (handler) => {
    const env = { ASYA_PARENT_PIPE: '1' };
    const runtime = await startForTest({ language, handler: language.handler(handler), env, stdin: 'pipe' });
    (await connectTo(runtime.socketPath)).send('60');
    if (handler !== 'echo') await untilBegun(runtime);
    runtime.child.stdin?.write('ignored input\n');
    await pause(300);
    expect(isAlive(runtime.pid)).toBe(true);
    runtime.child.stdin?.end();
    const ended = await within(runtime.ended, 'the end', 60_000);
    expect(ended).toEqual(
      language.name === 'python' ? { code: 0, signal: null } : { code: null, signal: 'SIGKILL' },
    );
  });

  it('exits with status 0 on SIGTERM while it watches its parent', async () => {
    const env = { ASYA_PARENT_PIPE: '1' };
    const runtime = await startForTest({ language, handler: language.handler('echo'), env, stdin: 'pipe' });
    expect(await (await connectTo(runtime.socketPath)).call(1)).toBe(1);
    runtime.child.kill('SIGTERM');
    expect(await within(runtime.ended, 'the end', 60_000)).toEqual({ code: 0, signal: null });
  });

  it('does not create the folder of its socket again after its parent has removed it', async () => {
    const folder = join(temporaryFolder(), 'removed');
    const env = { ASYA_PARENT_PIPE: '1', ASYA_SOCKET_PATH: join(folder, 'app.sock') };
    const runtime = launch({ language, handler: language.handler('echo'), env, stdin: 'pipe' });
    expect(await within(runtime.ended, 'the end', 60_000)).toEqual({ code: 1, signal: null });
    expect(runtime.stderr()).toContain('cannot listen at');
    expect(existsSync(folder)).toBe(false);
  });

  it('ignores stdin without ASYA_PARENT_PIPE', async () => {
    const runtime = await startForTest({ language, handler: language.handler('echo'), stdin: 'pipe' });
    runtime.child.stdin?.end();
    await pause(300);
    expect(await (await connectTo(runtime.socketPath)).call(1)).toBe(1);
  });
});
