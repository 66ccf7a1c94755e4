import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { envelopeAt } from '../../sidecar/envelopes.ts';
import { pause, ROOT, until } from '../../sidecar/sidecar-process.ts';
import { type Stage, setStage } from '../../sidecar/stage.ts';
import { isAlive, pidsIn } from '../../support/pids.ts';
import { functionVariables, type LambdaProcess, recordOf, startLambda } from './lambda-process.ts';

/** Batches whose calls are sent to the Node runtime ahead of their turn, while its process ends. */

const HANDLER = `
import { appendFileSync, writeSync } from 'node:fs';
const end = async () => {
  process.kill(process.pid, 'SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 600_000));
};
async function* items() {
  yield 'first';
  yield 'second';
  await end();
}
appendFileSync(process.env.PIDS, process.pid + '\\n');
export async function handle({ n, do: what }, context) {
  appendFileSync(process.env.CALLS, n + '\\n');
  if (what === 'half an answer') writeSync(5, '\\0\\0\\0\\x40{"kind":"end"');
  if (what === 'progress') context.progress({ percent: 50 });
  if (what === 'items') return items();
  if (what === 'exit') process.exit(0);
  if (what !== undefined && what !== 'hang') await end();
  if (what === 'hang') await new Promise((resolve) => setTimeout(resolve, 600_000));
  return { n, attempt: context.attempt };
}
`;

let stage: Stage;
let lambda: LambdaProcess;
let calls: string;
const pids = () => join(stage.folder, 'pids');
beforeAll(async () => {
  stage = await setStage('x-sink', 'store', 'score');
  calls = join(stage.folder, 'calls');
  writeFileSync(join(stage.folder, 'handler.mjs'), HANDLER);
  const variables = functionVariables(stage, 'score', {
    ASYA_RUNTIME_COMMAND: `exec '${process.execPath}' ${ROOT}/runtimes/node/asya-runtime.ts ${stage.folder}/handler.mjs.handle`,
    ASYA_RESILIENCY_ACTOR_TIMEOUT: '2s',
    ASYA_RESILIENCY_POLICIES: '{"default":{"maxAttempts":1}}',
    CALLS: calls,
    PIDS: pids(),
  });
  lambda = startLambda(variables);
  await lambda.loaded;
});
afterAll(() => stage.close());

/** From now on calls are short, so that the next batch is sent ahead. */
const warmUp = () => lambda.invoke([recordOf('score', envelopeAt('score', { n: 0 }, { route }))]);

const route = { prev: [], curr: 'score', next: ['store'] };

/** Processes a batch, one of whose records ends the process. Returns the ends of all records, by their place. */
async function batchWith(what: string) {
  writeFileSync(calls, '');
  const envelopes = Array.from({ length: 9 }, (_, n) =>
    envelopeAt('score', n === 4 ? { n, do: what } : { n }, { route }),
  );
  const response = await lambda.invoke(envelopes.map((envelope) => recordOf('score', envelope)));
  expect(response).toEqual({ batchItemFailures: [] });
  const [ends, failure] = await Promise.all([
    Promise.all(envelopes.filter((_, n) => n !== 4).map(({ id }) => stage.inbox.next('store', id))),
    stage.inbox.next('x-sink', envelopes[4]?.id ?? ''),
  ]);
  const made = readFileSync(calls, 'utf8').split('\n').filter(Boolean).map(Number);
  return { payloads: ends.map(({ payload }) => payload), failure, made };
}

test.each([
  ['kill', 'RuntimeConnectionError'],
  ['exit', 'RuntimeConnectionError'],
  ['half an answer', 'RuntimeConnectionError'],
  ['progress', 'RuntimeConnectionError'],
  ['items', 'RuntimeConnectionError'],
  ['hang', 'ActorTimeout'],
])(
  'only the call that ends the process (%s) fails, and no other call is repeated or counted',
  async (what, type) => {
    await warmUp();
    const { payloads, failure, made } = await batchWith(what);
    expect(payloads).toEqual([0, 1, 2, 3, 5, 6, 7, 8].map((n) => ({ n, attempt: 1 })));
    expect(failure.status).toMatchObject({ phase: 'failed', error: { type } });
    expect(made.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  },
);

test('a process that ended while the function was frozen fails no call', async () => {
  await warmUp();
  writeFileSync(calls, '');
  const envelopes = [0, 1, 2, 3].map((n) => envelopeAt('score', { n }, { route }));
  const runtime = pidsIn(pids()).at(-1) ?? 0;
  process.kill(lambda.pid, 'SIGSTOP');
  const invocation = lambda.invoke(envelopes.map((envelope) => recordOf('score', envelope)));
  // The function reads the event before it notices that the process has ended.
  await pause(50);
  process.kill(runtime, 'SIGKILL');
  const hasEnded = () => !isAlive(runtime) && readdirSync(`/proc/${runtime}/task`).length === 1;
  await until(hasEnded, 'all threads of the runtime have ended');
  process.kill(lambda.pid, 'SIGCONT');
  expect(await invocation).toEqual({ batchItemFailures: [] });
  const ends = await Promise.all(envelopes.map(({ id }) => stage.inbox.next('store', id)));
  expect(ends.map(({ payload }) => payload)).toEqual([0, 1, 2, 3].map((n) => ({ n, attempt: 1 })));
  expect(readFileSync(calls, 'utf8')).toBe('0\n1\n2\n3\n');
});
