import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type FunctionPool,
  type FunctionPoolOptions,
  functionPool,
} from '../../../lib/local/functions/function-pool.ts';
import { endProcesses, pause, temporaryFolder, until } from '../../sidecar/sidecar-process.ts';
import { isAlive } from '../../support/pids.ts';
import type { Command } from './programs/playing.ts';

/** Functions in child processes, including all ways to crash. */

const FUNCTIONS = join(import.meta.dirname, 'programs');
const pools: FunctionPool[] = [];
let warnings: string[] = [];
let lines: string[] = [];

function aPool(more: Partial<FunctionPoolOptions> = {}): FunctionPool {
  const pool = functionPool({
    name: 'score',
    file: join(FUNCTIONS, 'playing.ts'),
    memoryMb: 256,
    maxInstances: 1,
    timeoutMs: 20_000,
    variables: () => ({}),
    onLine: (name, stream, line) => lines.push(`${name} ${stream} ${line}`),
    onWarning: (text) => warnings.push(text),
    ...more,
  });
  pools.push(pool);
  return pool;
}

afterEach(async () => {
  const pids = pools.flatMap((pool) => pool.pids());
  await Promise.all(pools.splice(0).map((pool) => pool.close(2_000)));
  expect(pids.filter(isAlive)).toEqual([]);
  warnings = [];
  lines = [];
  await endProcesses();
});

const invoke = (pool: FunctionPool, act: Command['act'], more: Omit<Command, 'act'> = {}) =>
  pool.invoke({ act, ...more });

interface InstanceDescription {
  readonly pid: number;
  readonly invocations: number;
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly context: Record<string, unknown>;
}
async function describeInstance(pool: FunctionPool): Promise<InstanceDescription> {
  const end = await invoke(pool, 'describe');
  if (!end.ok) throw new Error(end.problem);
  return end.response as InstanceDescription;
}

describe('an instance', () => {
  test('has the environment and context of a Lambda function, and no variables of the mesh', async () => {
    process.env['SECRET_OF_THE_MESH'] = 'yes';
    const variables = (instance: number) => ({ OWN: 'variable', NUMBER: String(instance) });
    const { env, context, cwd } = await describeInstance(aPool({ variables, cwd: tmpdir() }));
    expect(env).toMatchObject({
      OWN: 'variable',
      NUMBER: '1',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_LAMBDA_FUNCTION_NAME: 'score',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
    });
    expect(env).not.toHaveProperty('SECRET_OF_THE_MESH');
    expect(context).toMatchObject({ functionName: 'score', memoryLimitInMB: '256' });
    expect(context['leftMs']).toBeGreaterThan(10_000);
    expect(context['leftMs']).toBeLessThanOrEqual(20_000);
    expect(cwd).toBe(tmpdir());
    await until(() => lines.includes('score stdout loaded'), 'its output is forwarded');
  });

  test('is reused, and handles one invocation at a time', async () => {
    const pool = aPool();
    const [first, second] = await Promise.all([describeInstance(pool), describeInstance(pool)]);
    // Ctrl-C in a terminal signals it too.
    process.kill(first.pid, 'SIGINT');
    expect((await describeInstance(pool)).pid).toBe(first.pid);
    expect(second.pid).toBe(first.pid);
    expect([first.invocations, second.invocations]).toEqual([1, 2]);
    expect(first.context['awsRequestId']).not.toBe(second.context['awsRequestId']);
  });

  test('is added on demand, up to the maximum', async () => {
    const pool = aPool({ maxInstances: 2 });
    const ends = await Promise.all([1, 2, 3, 4].map(() => invoke(pool, 'wait', { ms: 300 })));
    const pids = new Set(ends.map((end) => end.ok && end.response));
    expect(pids.size).toBe(2);
    expect(pool.pids().length).toBe(2);
  });

  test('ends after the idle time, except the last one', async () => {
    const pool = aPool({ maxInstances: 3, idleMs: 200 });
    await Promise.all([1, 2, 3].map(() => invoke(pool, 'wait', { ms: 300 })));
    await until(() => pool.pids().length === 1, 'one instance is left');
    expect(warnings).toEqual([]);
  });

  test('is replaced after renew()', async () => {
    const pool = aPool();
    const { pid } = await describeInstance(pool);
    const inProgress = invoke(pool, 'wait', { ms: 500 });
    await pause(100);
    pool.renew();
    expect(await inProgress).toEqual({ ok: true, response: pid });
    expect((await describeInstance(pool)).pid).not.toBe(pid);
    await until(() => !isAlive(pid), 'the old instance has ended');
  });
});

describe('an invocation', () => {
  test('returns the response or the error', async () => {
    const pool = aPool();
    for (const value of [null, { batchItemFailures: [] }, 'text \ud800 \u{1f600}', 0])
      expect(await invoke(pool, 'answer', { value })).toEqual({ ok: true, response: value });
    expect(await invoke(pool, 'answer')).toEqual({ ok: true, response: undefined });
    expect(await invoke(pool, 'throw', { value: 'on request' })).toEqual({
      ok: false,
      problem: 'TypeError: on request',
    });
    expect(await invoke(pool, 'circle')).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/circular/),
    });
    const { pid } = await describeInstance(pool);
    expect(pool.pids()).toEqual([pid]);
  });

  test.each([
    ['exit', 'the process exited with status 3 during an invocation'],
    ['kill', 'the process was terminated by SIGKILL during an invocation'],
  ] as const)(
    'that ends its process (%s) is an error, and the next one gets another',
    async (act, problem) => {
      const pool = aPool();
      const { pid } = await describeInstance(pool);
      expect(await invoke(pool, act)).toEqual({ ok: false, problem });
      expect(isAlive(pid)).toBe(false);
      expect((await describeInstance(pool)).pid).not.toBe(pid);
      if (act === 'exit')
        await until(() => lines.includes('score stderr exiting on request'), 'its output is forwarded');
    },
  );

  test.each(['hang', 'spin'] as const)(
    'that takes too long (%s) is an error and kills its instance',
    async (act) => {
      const pool = aPool({ timeoutMs: 1_000 });
      // No further invocation here, because it could take a second on a busy machine too.
      expect(await pool.start()).toBeUndefined();
      const [pid = 0] = pool.pids();
      expect(await invoke(pool, act)).toEqual({
        ok: false,
        problem: 'the invocation exceeded its timeout of 1 s, and the process was killed',
      });
      expect(isAlive(pid)).toBe(false);
      expect(await pool.start()).toBeUndefined();
      expect(pool.pids()).toHaveLength(1);
      expect(pool.pids()).not.toContain(pid);
    },
  );

  test('uses a new instance after an idle one was killed, with a warning', async () => {
    const pool = aPool();
    const { pid } = await describeInstance(pool);
    process.kill(pid, 'SIGKILL');
    await until(() => warnings.length > 0, 'a warning');
    expect(warnings).toEqual([
      'an idle process of function "score" was terminated by SIGKILL; the next invocation starts a new one',
    ]);
    expect((await describeInstance(pool)).pid).not.toBe(pid);
  });
});

describe('a function that cannot be loaded', () => {
  test('is reported once, and loading is retried until it succeeds', async () => {
    const switchFile = join(await temporaryFolder(), 'fixed');
    const file = join(FUNCTIONS, 'refusing.ts');
    const pool = aPool({ file, variables: () => ({ LOADS_IF: switchFile }) });
    const problem = `2 mistakes in the configuration: ${switchFile} is missing`;
    expect(await pool.start()).toBe(problem);
    for (let time = 0; time < 3; time++) expect(await pool.invoke({})).toEqual({ ok: false, problem });
    expect(warnings).toEqual([
      `cannot load function "score" from ${file}: ${problem}; fix the problem; loading is retried automatically`,
    ]);
    writeFileSync(switchFile, '');
    await pool.untilUsable(new AbortController().signal);
    expect(await pool.invoke({})).toEqual({ ok: true, response: 'loaded' });
    expect(warnings.length).toBe(1);
  });

  test.each([
    ['handlerless.ts', 'the module does not export a function "handler"; its exports are: handle, other'],
    [
      'exiting.ts',
      'the process exited with status 7 while loading the handler; last output: exiting while loading',
    ],
    ['missing.ts', /^Cannot find module .*missing.ts/],
  ])('is reported with the reason: %s', async (file, problem) => {
    const found = await aPool({ file: join(FUNCTIONS, file) }).start();
    if (typeof problem === 'string') expect(found).toBe(problem);
    else expect(found).toMatch(problem);
  });
});

test('close() kills instances that ignore SIGTERM', async () => {
  const pool = aPool({ variables: () => ({ IGNORE_SIGTERM: '1' }) });
  const { pid } = await describeInstance(pool);
  const running = invoke(pool, 'hang');
  await until(() => lines.includes('score stdout hanging'), 'the invocation has started');
  await pool.close(200);
  expect(await running).toEqual({
    ok: false,
    problem: 'the process was terminated by SIGKILL during an invocation',
  });
  expect(isAlive(pid)).toBe(false);
  expect(await invoke(pool, 'describe')).toEqual({ ok: false, problem: 'the function is shutting down' });
});
