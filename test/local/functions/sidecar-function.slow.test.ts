import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queueDepths } from '../../../lib/adapters/sqs/queue-depths.ts';
import { sdkSqs } from '../../../lib/adapters/sqs/sdk-sqs.ts';
import { queuePlan } from '../../../lib/config/plan/queue-plan.ts';
import { sqsEventQueue } from '../../../lib/local/functions/event-queue.ts';
import {
  type BatchReport,
  type EventSource,
  eventSource,
} from '../../../lib/local/functions/event-source.ts';
import { type FunctionPool, functionPool } from '../../../lib/local/functions/function-pool.ts';
import { envelopeAt, type Wire } from '../../sidecar/envelopes.ts';
import { endProcesses, ROOT, startProcess, temporaryFolder, until } from '../../sidecar/sidecar-process.ts';
import { isAlive, pidsIn } from '../../support/pids.ts';
import { ensurePair, startTestEngines, type TestEngines } from '../test-engines.ts';

/** The sidecar as a local Lambda function with a real queue, event source, runtime and handler. */

const SIDECAR = join(ROOT, 'functions/sidecar/index.ts');
const COMMAND = `${process.execPath} ${ROOT}/runtimes/node/asya-runtime.ts ${import.meta.dirname}/../handlers/behaviours.ts.act`;

let local: TestEngines;
let folder: string;
beforeAll(async () => {
  local = await startTestEngines();
  folder = await temporaryFolder();
  await ensurePair(local.sqs, 'x-sink', queuePlan(30));
});
afterAll(async () => {
  await endProcesses();
  await local.close();
});

const variablesOf = (actor: string, instance: number | string) => ({
  ASYA_ACTOR_NAME: actor,
  ASYA_SQS_ENDPOINT: local.engines.sqsEndpoint,
  ASYA_RESILIENCY_ACTOR_TIMEOUT: '40s',
  ASYA_RUNTIME_COMMAND: COMMAND,
  ASYA_RUNTIME_URL: `unix:${folder}/${actor}-${instance}.sock`,
});

interface Running {
  readonly pool: FunctionPool;
  readonly source: EventSource;
  readonly url: string;
  readonly reports: BatchReport[];
  stop(): Promise<void>;
}

async function run(actor: string): Promise<Running> {
  const pool = functionPool({
    name: actor,
    file: SIDECAR,
    memoryMb: 128,
    maxInstances: 2,
    timeoutMs: 60_000,
    variables: (instance) => variablesOf(actor, instance),
    onLine: () => {},
    onWarning: () => {},
  });
  const { queue } = await ensurePair(local.sqs, actor, queuePlan(1));
  const reports: BatchReport[] = [];
  const source = eventSource({
    queue: sqsEventQueue(local.sqs, queue),
    batchSize: 5,
    batchWindowSeconds: 0,
    maximumConcurrency: 1,
    invoke: pool.invoke,
    untilUsable: pool.untilUsable,
    onWarning: () => {},
    onBatch: (report) => reports.push(report),
  });
  const stop = async () => {
    expect(await source.stop(60_000)).toBe(0);
    await pool.close(2_000);
    expect(pool.pids()).toEqual([]);
  };
  return { pool, source, url: queue.url, reports, stop };
}

async function take(
  queue: string,
  isMatch: (envelope: Wire) => boolean,
): Promise<{ body: string; envelope: Wire }> {
  const QueueUrl = `http://localhost/000000000000/${queue}`;
  for (const endsAt = Date.now() + 60_000; Date.now() < endsAt; ) {
    const request = { QueueUrl, VisibilityTimeout: 1, WaitTimeSeconds: 1 };
    const { Messages = [] } = await local.sqs.send(new ReceiveMessageCommand(request));
    for (const { Body = '' } of Messages) {
      const envelope = JSON.parse(Body) as Wire;
      if (isMatch(envelope)) return { body: Body, envelope };
    }
  }
  throw new Error(`the envelope did not arrive at ${queue}`);
}

test('an envelope passes queue, function and runtime, and all processes end', async () => {
  const { pool, url, reports, stop } = await run('double');
  const envelope = envelopeAt('double', { act: 'double', value: 21 });
  await local.send(url, JSON.stringify(envelope));
  const { envelope: ended } = await take('x-sink', ({ id }) => id === envelope.id);
  expect(ended).toMatchObject({ payload: 42, status: { phase: 'succeeded', reason: 'Completed' } });

  const describing = envelopeAt('double', { act: 'describe' });
  await local.send(url, JSON.stringify(describing));
  const { payload } = (await take('x-sink', ({ id }) => id === describing.id)).envelope;
  const { runtime, parent, fn } = payload as { runtime: number; parent: number; fn: string };
  expect(pool.pids()).toEqual([Number(fn)]);
  // The runtime's parent is a shell, so a handler needs FUNCTION_PID to kill its function.
  expect(parent).not.toBe(Number(fn));
  expect(parentOf(parent)).toBe(Number(fn));
  await until(() => reports.length === 2, 'both are settled');
  expect(await queueDepths(sdkSqs(local.sqs), 'double')).toEqual({
    visible: 0,
    inFlight: 0,
    delayed: 0,
    deadLettered: 0,
  });
  await stop();
  await until(() => ![runtime, parent].some(isAlive), 'the runtime has ended too');
});

test('a function that is always killed uses up five receives', {
  timeout: 300_000,
}, async () => {
  const { url, reports, stop } = await run('doomed');
  const pidLog = join(folder, 'doomed.pids');
  const envelope = envelopeAt('doomed', { act: 'kill the function', pidLog }, { extra: 'ünchanged' });
  const body = JSON.stringify(envelope);
  await local.send(url, body);
  await until(
    async () => (await queueDepths(sdkSqs(local.sqs), 'doomed'))?.deadLettered === 1,
    'it is dead-lettered',
    200_000,
  );
  expect((await take('doomed-dlq', () => true)).body).toBe(body);
  const killed = 'the process was terminated by SIGKILL during an invocation';
  expect(reports.map(({ problem }) => problem)).toEqual(Array(5).fill(killed));
  const pids = readFileSync(pidLog, 'utf8')
    .trim()
    .split('\n')
    .flatMap((line) => line.split(' ').map(Number));
  expect(new Set(pids).size).toBe(10);
  await stop();
  await until(() => !pids.some(isAlive), 'functions and runtimes have ended');
});

test('reports all mistakes of a configuration', async () => {
  const pool = functionPool({
    name: 'invalid',
    file: SIDECAR,
    memoryMb: 128,
    maxInstances: 1,
    timeoutMs: 10_000,
    variables: () => ({ ASYA_ACTOR_NAME: 'invalid', ASYA_CONCURENCY: '3', ASYA_FANOUT: 'maybe' }),
    onLine: () => {},
    onWarning: () => {},
  });
  expect(await pool.start()).toMatch(/2 mistakes in the configuration\n.*ASYA_/);
  await pool.close(1_000);
});

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

describe('all processes end when the mesh is killed with SIGKILL', () => {
  test.each([
    ['the sidecar with its runtime', SIDECAR],
    ['a function that spins', join(import.meta.dirname, 'programs/playing.ts')],
  ])('%s', async (what, file) => {
    const name = what.replaceAll(' ', '-');
    const pidFile = join(folder, `${name}.pid`);
    const variables = {
      ...variablesOf(name, '#'),
      ASYA_RUNTIME_COMMAND: `echo $$ >> ${pidFile}; ${COMMAND}`,
    };
    const holder = startProcess(
      [join(import.meta.dirname, '../function-pool-process.ts'), file, JSON.stringify(variables)],
      {},
    );
    const started = await holder.untilLine(({ message }) => message === 'pool started');
    const pids = [...(started['pids'] as number[])];
    if (file === SIDECAR) {
      await until(() => pidsIn(pidFile).length === 2, 'both runtimes are started');
      pids.push(...pidsIn(pidFile));
    }
    expect(pids.length).toBeGreaterThan(1);
    expect(pids.every(isAlive)).toBe(true);
    holder.signal('SIGKILL');
    await until(() => !pids.some(isAlive), 'all processes have ended');
  });
});
