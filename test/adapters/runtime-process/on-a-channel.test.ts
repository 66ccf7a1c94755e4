import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { processRuntime } from '../../../lib/adapters/runtime-process/process-runtime.ts';
import { spawnGroup } from '../../../lib/adapters/runtime-process/spawn-group.ts';
import { channelRuntime } from '../../../lib/adapters/runtime-socket/channel-runtime.ts';
import { systemClock } from '../../../lib/adapters/system/system.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import type { Runtime, RuntimeRequest } from '../../../lib/ports/runtime.ts';
import { NODE } from '../../runtimes/languages.ts';
import { isAlive } from '../../support/pids.ts';
import { UNSTARTED } from '../runtime-socket/a-channel.ts';
import { detailOf, requestWith, valueIn } from '../runtime-socket/a-request.ts';

/** The Node runtime as the sidecar starts it: its calls arrive over a descriptor, and its answers leave over another. */

const HANDLER = `
import { spawn } from 'node:child_process';
import { appendFileSync, closeSync, writeSync } from 'node:fs';
export async function handle({ do: what, text, file }) {
  appendFileSync(process.env.CALLS, what + '\\n');
  if (what === 'exit') process.exit(3);
  if (what === 'kill') process.kill(process.pid, 'SIGKILL');
  if (what === 'hang' || what === 'kill') await new Promise((resolve) => setTimeout(resolve, 600_000));
  if (what === 'garbage') writeSync(5, 'GET / HTTP/1.1');
  if (what === 'stray') writeSync(4, 'GET / HTTP/1.1');
  if (what === 'deaf') closeSync(4);
  if (['garbage', 'stray', 'deaf'].includes(what)) await new Promise((resolve) => setTimeout(resolve, 600_000));
  if (what === 'descriptor') return process.env.ASYA_RUNTIME_FD ?? process.env.ASYA_RUNTIME_ANSWER_FD ?? 'removed';
  if (what === 'large') return 'x'.repeat(3_000_000);
  if (what === 'child') return spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).pid;
  return process.pid;
}
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'asya-channel-'));
  writeFileSync(join(folder, 'code.mjs'), HANDLER);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const opened: Runtime[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

let runs = 0;

function start(more: { readonly concurrency?: number; readonly isStarted?: boolean } = {}) {
  const { concurrency = 1, isStarted = false } = more;
  const calls = join(folder, `calls-${++runs}`);
  writeFileSync(calls, '');
  const command = `exec '${NODE.command}' '${NODE.script}' '${folder}/code.mjs.handle'`;
  const env = {
    PATH: process.env['PATH'] ?? '',
    ASYA_RUNTIME_FD: '4',
    ASYA_RUNTIME_ANSWER_FD: '5',
    ASYA_CONCURRENCY: String(concurrency),
    CALLS: calls,
  };
  const warnings: string[] = [];
  const pauses: unknown[] = [];
  const options = { actor: 'score', fanOut: 'array', maxAnswerBytes: 1_000_000 } as const;
  const runtime = processRuntime({
    command,
    env: async () => env,
    ...(isStarted && { started: spawnGroup({ command, env, hasChannel: true }) }),
    client: channelRuntime({ ...options, concurrency, now: systemClock.now }),
    clock: systemClock,
    onLine: () => {},
    onWarning: (message, { reason = '', restartInMs }) => {
      warnings.push(`${message} ${reason}`.trim());
      if (restartInMs !== undefined) pauses.push(restartInMs);
    },
  });
  opened.push(runtime);
  return {
    runtime,
    warnings,
    /** How long it waited before each restart after an exit. */
    pauses,
    /** What the handler was called with so far, in all processes. */
    calls: () => readFileSync(calls, 'utf8').split('\n').filter(Boolean),
    call: (what: string, request: Partial<RuntimeRequest> = {}): Promise<CallResult> =>
      runtime.call({ ...requestWith({ do: what }), startByMs: systemClock.now() + 100_000, ...request }),
  };
}

describe('a runtime on a channel', () => {
  it('is called, keeps its process, and hides its descriptors from the handler', async () => {
    const { call } = start();
    const pid = valueIn(await call('pid'));
    expect(valueIn(await call('pid'))).toBe(pid);
    expect(valueIn(await call('descriptor'))).toBe('removed');
  });

  it('uses the process that was started before', async () => {
    const { call, warnings } = start({ isStarted: true });
    expect(valueIn(await call('pid'))).toEqual(expect.any(Number));
    expect(warnings).toEqual([]);
  });

  it.each([
    ['exit', "the handler's process exited with status 3 during the call"],
    ['kill', "the handler's process was terminated by SIGKILL during the call"],
  ])('that ends during a call (%s) fails only this call: the others did not start', async (what, detail) => {
    const { runtime, call, calls } = start();
    const ends = await Promise.all([call('pid'), call(what), call('pid'), call('pid')]);
    expect(ends[0] && valueIn(ends[0])).toEqual(expect.any(Number));
    expect(ends[1] && detailOf(ends[1])).toBe(detail);
    expect(ends.slice(2)).toEqual([UNSTARTED, UNSTARTED]);
    expect(calls()).toEqual(['pid', what]);
    await runtime.untilStarted?.(new AbortController().signal);
    expect(valueIn(await call('pid'))).not.toBe(ends[0] && valueIn(ends[0]));
  });

  it('that ends is started again after a short pause, unless its process has answered no call', async () => {
    const { runtime, call, pauses } = start();
    for (const what of ['kill', 'pid', 'kill', 'pid', 'kill', 'kill']) {
      await call(what);
      await runtime.untilStarted?.(new AbortController().signal);
    }
    expect(pauses).toEqual([100, 100, 100, 200]);
  });

  it('that hangs is killed: calls that ran are interrupted, and calls behind them did not start', async () => {
    const { call, calls, warnings } = start({ concurrency: 2 });
    await call('pid');
    const other = call('hang');
    const ends = await Promise.all([call('hang', { timeoutMs: 300 }), other, call('pid')]);
    expect(ends).toEqual([{ kind: 'timeout' }, { kind: 'interrupted' }, UNSTARTED]);
    expect(calls()).toEqual(['pid', 'hang', 'hang']);
    expect(warnings[0]).toBe('the runtime did not answer in time; restarting it');
  });

  it.each([
    ['answers', 'garbage'],
    ['calls', 'stray'],
  ])('that writes into the descriptor for %s is killed and started again', async (_which, what) => {
    const { runtime, call } = start();
    const [broken, behind] = await Promise.all([call(what), call('pid')]);
    expect(broken && detailOf(broken)).toMatch(
      /^the handler's process sent something that cannot be read \(.*\) and was killed during the call$/,
    );
    expect(behind).toEqual(UNSTARTED);
    await runtime.untilStarted?.(new AbortController().signal);
    expect(valueIn(await call('pid'))).toEqual(expect.any(Number));
  });

  it('that closes the descriptor for calls is killed and started again', async () => {
    const { runtime, call } = start();
    const [deaf, behind] = await Promise.all([call('deaf'), call('pid')]);
    expect(deaf && detailOf(deaf)).toMatch(/^the handler's process .* during the call$/);
    expect(behind).toEqual(UNSTARTED);
    await runtime.untilStarted?.(new AbortController().signal);
    expect(valueIn(await call('pid'))).toEqual(expect.any(Number));
  });

  it('whose answer is too large can be called again', async () => {
    const { call } = start();
    const ends = await Promise.all([call('pid'), call('large'), call('pid')]);
    expect(ends[1]).toMatchObject({ kind: 'too-large' });
    expect(ends[2] && valueIn(ends[2])).toBe(ends[0] && valueIn(ends[0]));
  });

  it('keeps its descriptors from the processes of the handler', async () => {
    const { runtime, call } = start();
    const child = Number(valueIn(await call('child')));
    expect(isAlive(child)).toBe(true);
    // The child would keep the streams open, and the end of the runtime would not be noticed.
    expect(detailOf(await call('kill'))).toMatch(/SIGKILL/);
    await runtime.untilStarted?.(new AbortController().signal);
    process.kill(child, 'SIGKILL');
  });

  it('that cannot load its handler reports the reason', async () => {
    writeFileSync(join(folder, 'broken.mjs'), 'import "./is-missing.mjs";\n');
    const command = `exec '${NODE.command}' '${NODE.script}' '${folder}/broken.mjs.handle'`;
    const client = channelRuntime({
      actor: 'score',
      fanOut: 'array',
      maxAnswerBytes: 1_000,
      concurrency: 1,
      now: systemClock.now,
    });
    const runtime = processRuntime({
      command,
      env: async () => ({
        PATH: process.env['PATH'] ?? '',
        ASYA_RUNTIME_FD: '4',
        ASYA_RUNTIME_ANSWER_FD: '5',
      }),
      client,
      clock: systemClock,
      onLine: () => {},
      onWarning: () => {},
    });
    opened.push(runtime);
    expect(detailOf(await runtime.call(requestWith(1)))).toMatch(/cannot host ".*": .*is-missing/);
  });

  it('finishes its call when it is closed', async () => {
    const { runtime, call, calls } = start();
    await call('pid');
    const last = call('pid');
    await last;
    await runtime.close();
    expect(calls()).toEqual(['pid', 'pid']);
  });
});
