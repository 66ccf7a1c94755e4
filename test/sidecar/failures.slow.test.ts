import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, pidsIn } from '../support/pids.ts';
import { type Arrived, envelopeAt } from './envelopes.ts';
import { freePort } from './free-port.ts';
import {
  callsIn,
  nodeRuntime,
  pythonRuntime,
  type RunningProcess,
  saying,
  startShell,
  until,
} from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';
import { testIn } from './test-in.ts';

/** Failures around the sidecar: runtimes that die, hang, spin or ignore signals, and a missing x-sink queue. */

/** Long enough for three calls to start before the first one times out, also on a busy machine. */
const TIMEOUT_MS = 5_000;

const TABLE = [
  ['Python', 'trial-py', pythonRuntime('behaviours.handle')],
  ['Node', 'trial-js', nodeRuntime('behaviours.ts.handle')],
] as const;

let stage: Stage;
const sidecars = new Map<string, RunningProcess>();
let withoutSink: Promise<void>;
beforeAll(async () => {
  stage = await setStage('x-sink');
  withoutSink = runWithoutSink();
  withoutSink.catch(() => {});
  await Promise.all(
    TABLE.map(async ([_language, actor, command]) => {
      const sidecar = await stage.sidecar(actor, {
        ASYA_RUNTIME_COMMAND: command,
        ASYA_CONCURRENCY: '3',
        ASYA_RESILIENCY_ACTOR_TIMEOUT: `${TIMEOUT_MS}ms`,
        ASYA_LOG_LEVEL: 'debug',
        PID_FILE: pidFile(actor),
        IGNORE_SIGTERM: '1',
      });
      sidecars.set(actor, sidecar);
    }),
  );
});
afterAll(() => stage.close());

/** Started first: a delivery released after a refused send stays hidden for 15 seconds. */
async function runWithoutSink(): Promise<void> {
  const sidecar = await stage.sidecar('orphan', {
    ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
    ASYA_ACTOR_SINK: 'x-late',
    ASYA_LOG_LEVEL: 'debug',
  });
  const envelopes = [
    envelopeAt('orphan', { value: 1 }),
    envelopeAt('orphan', { do: 'raise', error: 'ValueError' }),
    envelopeAt('orphan', { value: [3, 4] }),
  ];
  for (const envelope of envelopes) await stage.send(envelope);
  for (const { id } of envelopes) {
    const line = await sidecar.untilLine(
      ({ message, envelopeId }) => message === 'delivery' && envelopeId === id,
    );
    expect(line).toMatchObject({ settle: 'release', failed: 'transport_error' });
    expect(line['problem']).toContain('x-late');
  }
  await until(() => sidecar.lines.filter(saying('released')).length === 3, 'all deliveries are released');
  expect(sidecar.lines.filter(saying('acked'))).toEqual([]);
  // They stay hidden for a while, so that an outage of minutes does not use up their receives.
  expect(await stage.sqs.counts('orphan')).toEqual({ visible: 0, hidden: 3, delayed: 0 });

  await stage.sqs.createQueue('x-late');
  for (const { id } of envelopes) await stage.inbox.next('x-late', id);
  await stage.inbox.nextWhere('x-late', ({ payload }) => payload === 4, 'the second item');
  await until(async () => (await stage.sqs.counts('orphan')).hidden === 0, 'all deliveries are acknowledged');
  expect((await stage.sqs.counts('orphan-dlq')).visible).toBe(0);
}

function pidFile(actor: string): string {
  return join(stage.folder, `${actor}.pid`);
}

/** The runtime that was started last. */
function runtimePid(actor: string): number {
  return pidsIn(pidFile(actor)).at(-1) ?? 0;
}

const counterFile = () => join(stage.folder, randomUUID());

async function send(actor: string, payload: object): Promise<string> {
  const envelope = envelopeAt(actor, payload);
  await stage.send(envelope);
  return envelope.id;
}

/** Sends an envelope, and resolves when its call has started. */
async function startCall(actor: string, payload: object): Promise<{ id: string; counter: string }> {
  const counter = counterFile();
  const id = await send(actor, { ...payload, counter });
  await until(() => callsIn(counter) > 0, 'the call has started');
  return { id, counter };
}

const firstDelivery = (actor: string, id: string) =>
  (sidecars.get(actor) as RunningProcess).untilLine(
    ({ message, envelopeId }) => message === 'delivery' && envelopeId === id,
  );
const arrival = (id: string): Promise<Arrived> => stage.inbox.next('x-sink', id);

describe('a runtime in Python and in Node', () => {
  testIn(TABLE, 'that is killed during a call is replaced, and the call is retried', async (actor) => {
    const { id } = await startCall(actor, { do: 'hang', value: 'second life' });
    const pid = runtimePid(actor);
    process.kill(pid, 'SIGKILL');
    expect(await arrival(id)).toMatchObject({
      payload: 'second life',
      status: { phase: 'succeeded', attempt: 2 },
    });
    expect(runtimePid(actor)).not.toBe(pid);
    expect(await firstDelivery(actor, id)).toMatchObject({
      outcome: 'error,retried',
      policy: 'connection',
      attempt: 1,
      problem: expect.stringMatching(/the handler's process .*SIGKILL.* during the call$/),
    });
  });

  testIn(
    TABLE,
    'that hangs is killed even if it ignores SIGTERM, and the other calls are resent unchanged',
    async (actor) => {
      const hung = await startCall(actor, { do: 'hang', times: 9 });
      const pid = runtimePid(actor);
      const others = [
        await startCall(actor, { do: 'hang', value: 'one' }),
        await startCall(actor, { do: 'hang', value: 'two' }),
      ];
      const failed = await arrival(hung.id);
      expect(failed.status).toMatchObject({ phase: 'failed', reason: 'ActorTimeout', attempt: 1 });
      await until(() => !isAlive(pid), 'the hung runtime is gone');
      for (const { id, counter } of others) {
        const arrived = await arrival(id);
        // Resent unchanged: no attempt is counted, although it was called twice.
        expect(arrived.status).toMatchObject({ phase: 'succeeded', attempt: 1 });
        expect(arrived.status).not.toHaveProperty('max_attempts');
        expect(callsIn(counter)).toBe(2);
        expect(await firstDelivery(actor, id)).toMatchObject({ outcome: 'returned', to: actor });
      }
    },
  );

  testIn(TABLE, 'that spins the CPU is killed', async (actor) => {
    const { id } = await startCall(actor, { do: 'spin' });
    const pid = runtimePid(actor);
    expect((await arrival(id)).status).toMatchObject({ reason: 'ActorTimeout' });
    await until(() => !isAlive(pid), 'the spinning runtime is gone');
  });

  testIn(TABLE, 'that hangs is killed with the process that it started', async (actor) => {
    const childFile = counterFile();
    const { id } = await startCall(actor, { do: 'grandchild', pid_file: childFile });
    await until(() => pidsIn(childFile).length > 0, 'the grandchild');
    const [grandchild = 0] = pidsIn(childFile);
    expect(isAlive(grandchild)).toBe(true);
    expect((await arrival(id)).status).toMatchObject({ reason: 'ActorTimeout' });
    await until(() => !isAlive(grandchild), 'the grandchild is gone');
  });

  testIn(TABLE, 'is not killed while it answers three concurrent calls', async (actor) => {
    await until(() => isAlive(runtimePid(actor)), 'a runtime');
    // Wait until the runtime is ready: the previous test may have restarted it.
    await arrival(await send(actor, { value: 'ready' }));
    const pid = runtimePid(actor);
    const ids = await Promise.all(
      [1, 2, 3].map((value) => send(actor, { do: 'sleep', seconds: 0.3, value })),
    );
    for (const id of ids)
      expect((await arrival(id)).status).toMatchObject({ phase: 'succeeded', attempt: 1 });
    expect(runtimePid(actor)).toBe(pid);
  });
});

test('a runtime that dies fails only its own call', async () => {
  // Without retries, a failure of another call would show.
  await stage.sidecar('poisoned', {
    // The shell around it ends later, as it does on a busy machine.
    ASYA_RUNTIME_COMMAND: `${pythonRuntime('behaviours.handle')}; sleep 1.5`,
    ASYA_RESILIENCY_POLICIES: JSON.stringify({ default: { maxAttempts: 1 } }),
  });
  // Short calls, so that there is always a next delivery when one ends.
  for (let n = 0; n < 20; n++) await arrival(await send('poisoned', { value: n }));
  const envelopes = Array.from({ length: 9 }, (_, n) =>
    envelopeAt('poisoned', n === 3 ? { do: 'die' } : { value: n }),
  );
  await Promise.all(envelopes.map((envelope) => stage.send(envelope)));
  const outcomes = await Promise.all(
    envelopes.map(async ({ id }) => {
      const { status } = await arrival(id);
      return status?.error === undefined ? status?.phase : status.error.message.replace(/\/\S+/g, '...');
    }),
  );
  expect(outcomes.filter((_, n) => n !== 3)).toEqual(Array.from({ length: 8 }, () => 'succeeded'));
  // The shell ends with the status of its last command.
  expect(outcomes[3]).toBe("the handler's process exited with status 0 during the call");
});

test('a restart that takes longer than the actor timeout fails no delivery', async () => {
  await stage.sidecar('loading', {
    // The shell around it ends later, so that the next call finds nothing listening.
    ASYA_RUNTIME_COMMAND: `sleep 6; ${pythonRuntime('behaviours.handle')}; sleep 1.5`,
    ASYA_RESILIENCY_ACTOR_TIMEOUT: '5s',
    ASYA_RESILIENCY_POLICIES: JSON.stringify({ default: { maxAttempts: 2 } }),
  });
  const dead = await send('loading', { do: 'die', counter: counterFile(), value: 'back' });
  const others = await Promise.all([1, 2, 3].map((value) => send('loading', { value })));
  expect((await arrival(dead)).status).toMatchObject({ phase: 'succeeded', attempt: 2 });
  for (const id of others)
    expect((await arrival(id)).status).toMatchObject({ phase: 'succeeded', attempt: 1 });
});

describe.concurrent('a runtime that the sidecar did not start', () => {
  test.each([
    ['frames', 'external-frames', () => Promise.resolve(`unix:${stage.folder}/external.sock`)],
    ['HTTP', 'external-http', async () => `http://127.0.0.1:${await freePort()}/invoke`],
  ])('hangs (%s): the sidecar acknowledges and exits with status 1', async (_what, actor, url) => {
    const variables = { ASYA_RUNTIME_URL: await url() };
    const runtime = startShell(pythonRuntime('behaviours.handle'), variables);
    const sidecar = await stage.sidecar(actor, {
      ...variables,
      ASYA_CONCURRENCY: '2',
      ASYA_RESILIENCY_ACTOR_TIMEOUT: `${TIMEOUT_MS}ms`,
      ASYA_LOG_LEVEL: 'debug',
    });
    const hung = await startCall(actor, { do: 'hang', times: 9 });
    const other = envelopeAt(actor, { do: 'hang', counter: counterFile(), value: 'later' });
    await stage.send(other);
    await sidecar.untilLine(({ message, envelopeId }) => message === 'call' && envelopeId === other.id);
    expect((await arrival(hung.id)).status).toMatchObject({ reason: 'ActorTimeout' });
    expect(await sidecar.untilExit()).toEqual({ code: 1, signal: null });
    expect(sidecar.lines.find(saying('sidecar ended'))).toMatchObject({ why: 'hung', level: 'error' });
    const [back] = await stage.sqs.takeUntil(actor, 1);
    expect(JSON.parse(back?.Body ?? '')).toEqual(other);
    expect(isAlive(runtime.pid)).toBe(true);
  });
});

test("acknowledges nothing while x-sink's queue is missing, and loses nothing", async () => {
  await withoutSink;
});
