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
import type { Play } from './programs/playing.ts';

/** Functions in processes of their own, with whatever they may do to them. */

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

const play = (pool: FunctionPool, act: Play['act'], more: Omit<Play, 'act'> = {}) =>
  pool.invoke({ act, ...more });

interface Told {
  readonly pid: number;
  readonly invocations: number;
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly context: Record<string, unknown>;
}
async function tell(pool: FunctionPool): Promise<Told> {
  const end = await play(pool, 'tell');
  if (!end.ok) throw new Error(end.problem);
  return end.response as Told;
}

describe('an instance', () => {
  test('has the environment of a Lambda function, a context, and nothing of ours', async () => {
    process.env['SECRET_OF_THE_MESH'] = 'yes';
    const variables = (instance: number) => ({ OWN: 'variable', NUMBER: String(instance) });
    const { env, context, cwd } = await tell(aPool({ variables, cwd: tmpdir() }));
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
    await until(() => lines.includes('score stdout loaded'), 'what it printed is told');
  });

  test('is used again, and by one invocation at a time', async () => {
    const pool = aPool();
    const [first, second] = await Promise.all([tell(pool), tell(pool)]);
    // Ctrl-C in a terminal reaches it too.
    process.kill(first.pid, 'SIGINT');
    expect((await tell(pool)).pid).toBe(first.pid);
    expect(second.pid).toBe(first.pid);
    expect([first.invocations, second.invocations]).toEqual([1, 2]);
    expect(first.context['awsRequestId']).not.toBe(second.context['awsRequestId']);
  });

  test('is joined by others on demand, up to the most', async () => {
    const pool = aPool({ maxInstances: 2 });
    const ends = await Promise.all([1, 2, 3, 4].map(() => play(pool, 'wait', { ms: 300 })));
    const pids = new Set(ends.map((end) => end.ok && end.response));
    expect(pids.size).toBe(2);
    expect(pool.pids().length).toBe(2);
  });

  test('without work ends after a while, but for the last one', async () => {
    const pool = aPool({ maxInstances: 3, idleMs: 200 });
    await Promise.all([1, 2, 3].map(() => play(pool, 'wait', { ms: 300 })));
    await until(() => pool.pids().length === 1, 'one is left');
    expect(warnings).toEqual([]);
  });

  test('gives way to a new one when the pool is renewed', async () => {
    const pool = aPool();
    const { pid } = await tell(pool);
    const atWork = play(pool, 'wait', { ms: 500 });
    await pause(100);
    pool.renew();
    expect(await atWork).toEqual({ ok: true, response: pid });
    expect((await tell(pool)).pid).not.toBe(pid);
    await until(() => !isAlive(pid), 'the old one is gone');
  });
});

describe('an invocation', () => {
  test('ends with the answer, whatever it is, or with what was thrown', async () => {
    const pool = aPool();
    for (const value of [null, { batchItemFailures: [] }, 'text \ud800 \u{1f600}', 0])
      expect(await play(pool, 'answer', { value })).toEqual({ ok: true, response: value });
    expect(await play(pool, 'answer')).toEqual({ ok: true, response: undefined });
    expect(await play(pool, 'throw', { value: 'as told' })).toEqual({
      ok: false,
      problem: 'TypeError: as told',
    });
    expect(await play(pool, 'circle')).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/circular/),
    });
    const { pid } = await tell(pool);
    expect(pool.pids()).toEqual([pid]);
  });

  test.each([
    ['exit', 'its process exited with status 3 in the middle of an invocation'],
    ['kill', 'its process was ended by SIGKILL in the middle of an invocation'],
  ] as const)(
    'that ends its process (%s) is an error, and the next one gets another',
    async (act, problem) => {
      const pool = aPool();
      const { pid } = await tell(pool);
      expect(await play(pool, act)).toEqual({ ok: false, problem });
      expect(isAlive(pid)).toBe(false);
      expect((await tell(pool)).pid).not.toBe(pid);
      if (act === 'exit')
        await until(() => lines.includes('score stderr these were my last words'), 'its words are told');
    },
  );

  test.each(['hang', 'spin'] as const)(
    'that takes too long (%s) is an error and kills its instance',
    async (act) => {
      const pool = aPool({ timeoutMs: 1_000 });
      // Nothing else is invoked here: a busy machine may take a second for it too.
      expect(await pool.start()).toBeUndefined();
      const [pid = 0] = pool.pids();
      expect(await play(pool, act)).toEqual({
        ok: false,
        problem: 'it took longer than its timeout of 1 s and was killed',
      });
      expect(isAlive(pid)).toBe(false);
      expect(await pool.start()).toBeUndefined();
      expect(pool.pids()).toHaveLength(1);
      expect(pool.pids()).not.toContain(pid);
    },
  );

  test('after its instance died without work gets another, and the death is told', async () => {
    const pool = aPool();
    const { pid } = await tell(pool);
    process.kill(pid, 'SIGKILL');
    await until(() => warnings.length > 0, 'it is told');
    expect(warnings).toEqual([
      'function "score" had no work and its process was ended by SIGKILL; the next invocation starts another one',
    ]);
    expect((await tell(pool)).pid).not.toBe(pid);
  });
});

describe('a function that cannot be loaded', () => {
  test('is told once with what to do, tried again by itself, and works when it is mended', async () => {
    const switchFile = join(await temporaryFolder(), 'mended');
    const file = join(FUNCTIONS, 'refusing.ts');
    const pool = aPool({ file, variables: () => ({ LOADS_IF: switchFile }) });
    const problem = `2 mistakes in the configuration: ${switchFile} is missing`;
    expect(await pool.start()).toBe(problem);
    for (let time = 0; time < 3; time++) expect(await pool.invoke({})).toEqual({ ok: false, problem });
    expect(warnings).toEqual([
      `function "score" cannot be loaded from ${file}: ${problem}; mend that, and it is tried again by itself`,
    ]);
    writeFileSync(switchFile, '');
    await pool.untilUsable(new AbortController().signal);
    expect(await pool.invoke({})).toEqual({ ok: true, response: 'loaded after all' });
    expect(warnings.length).toBe(1);
  });

  test.each([
    ['handlerless.ts', 'it exports no function "handler", but handle, other'],
    ['exiting.ts', 'its process exited with status 7 while it was loaded, and said: no such luck'],
    ['missing.ts', /^Cannot find module .*missing.ts/],
  ])('says why: %s', async (file, problem) => {
    const found = await aPool({ file: join(FUNCTIONS, file) }).start();
    if (typeof problem === 'string') expect(found).toBe(problem);
    else expect(found).toMatch(problem);
  });
});

test('what does not end when asked to is killed', async () => {
  const pool = aPool({ variables: () => ({ DEAF: '1' }) });
  const { pid } = await tell(pool);
  const running = play(pool, 'hang');
  await until(() => lines.includes('score stdout hanging'), 'it is at work');
  await pool.close(200);
  expect(await running).toEqual({
    ok: false,
    problem: 'its process was ended by SIGKILL in the middle of an invocation',
  });
  expect(isAlive(pid)).toBe(false);
  expect(await play(pool, 'tell')).toEqual({ ok: false, problem: 'the function is being closed' });
});
