import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { responseOf, startRawServer } from '../adapters/runtime-http/raw-server.ts';
import { isAlive, pidsIn } from '../support/pids.ts';
import { envelopeAt } from './envelopes.ts';
import {
  callsIn,
  metricsPort,
  nodeRuntime,
  pythonRuntime,
  type RunningProcess,
  saying,
  startSidecar,
  until,
} from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';

/** Stopping a sidecar: it finishes or returns its deliveries, leaves no process behind, and keeps the grace period. */

let stage: Stage;
beforeAll(async () => {
  stage = await setStage('x-sink');
});
afterAll(() => stage.close());

const IN_PYTHON = { ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle') };
const counterFile = () => join(stage.folder, randomUUID());

/** Stops a sidecar and returns how it ended. After the grace period the status is 1. */
async function stopped(sidecar: RunningProcess): Promise<{ code: number | null }> {
  sidecar.signal('SIGTERM');
  const { code } = await sidecar.untilExit();
  return { code };
}

describe.concurrent('SIGTERM', () => {
  test('finishes the deliveries in flight, and stops receiving', async () => {
    const sidecar = await stage.sidecar('draining', { ...IN_PYTHON, ASYA_CONCURRENCY: '2' });
    const counters = [counterFile(), counterFile()];
    const file = counterFile();
    const inFlight = counters.map((counter) => envelopeAt('draining', { do: 'wait', file, counter }));
    for (const envelope of inFlight) await stage.send(envelope);
    await until(() => counters.every(callsIn), 'both calls have started');
    const waiting = Array.from({ length: 3 }, (_, n) => envelopeAt('draining', { value: n }));
    for (const envelope of waiting) await stage.send(envelope);
    const stopping = stopped(sidecar);
    writeFileSync(file, '');
    expect(await stopping).toEqual({ code: 0 });
    for (const { id } of inFlight) {
      expect(await stage.inbox.next('x-sink', id)).toMatchObject({
        payload: 'waited',
        status: { attempt: 1 },
      });
    }
    // The others are visible at once and unchanged.
    expect(await stage.sqs.counts('draining')).toEqual({ visible: 3, hidden: 0, delayed: 0 });
    const left = await stage.sqs.takeUntil('draining', 3);
    const bodies = left.map(({ Body }) => JSON.parse(Body ?? ''));
    expect(bodies).toEqual(expect.arrayContaining(waiting));
  });

  test.each([
    ['Python', 'hanging-py', pythonRuntime('behaviours.handle')],
    ['Node', 'hanging-js', nodeRuntime('behaviours.ts.handle')],
  ])(
    'returns a call in %s that takes longer than the grace period, unchanged',
    async (_what, actor, command) => {
      const pidFile = join(stage.folder, `${actor}.pid`);
      const sidecar = await stage.sidecar(actor, {
        ASYA_RUNTIME_COMMAND: command,
        // Half of the grace period is for the last sends.
        ASYA_GRACE_PERIOD: '4s',
        PID_FILE: pidFile,
      });
      const counter = counterFile();
      const envelope = envelopeAt(
        actor,
        { do: 'hang', counter },
        {
          headers: { colour: 'blue' },
          status: { phase: 'retrying', actor, attempt: 2, created_at: '2026-01-01T00:00:00Z' },
        },
      );
      await stage.send(envelope);
      await until(() => callsIn(counter) > 0, 'the call has started');
      const { code } = await stopped(sidecar);
      expect(code).toBe(0);
      const [back] = await stage.sqs.takeUntil(actor, 1);
      expect(JSON.parse(back?.Body ?? '')).toEqual(envelope);
      expect(await stage.sqs.counts(actor)).toEqual({ visible: 0, hidden: 0, delayed: 0 });
      expect(pidsIn(pidFile).length).toBe(1);
      await until(() => !pidsIn(pidFile).some(isAlive), 'the runtime is gone');
    },
  );

  test('kills a runtime that ignores it', async () => {
    const pidFile = join(stage.folder, 'stubborn.pid');
    const sidecar = await stage.sidecar('stubborn', {
      ...IN_PYTHON,
      PID_FILE: pidFile,
      IGNORE_SIGTERM: '1',
    });
    const { code } = await stopped(sidecar);
    expect(code).toBe(0);
    expect(pidsIn(pidFile).length).toBe(1);
    await until(() => !pidsIn(pidFile).some(isAlive), 'the runtime is gone');
  });

  test.each([
    ['Python', 'polite-py', pythonRuntime('behaviours.handle')],
    ['Node', 'polite-js', nodeRuntime('behaviours.ts.handle')],
  ])('waits for a runtime in %s that needs a moment to end', async (_what, actor, command) => {
    const goodbyeFile = counterFile();
    const sidecar = await stage.sidecar(actor, { ASYA_RUNTIME_COMMAND: command, GOODBYE_FILE: goodbyeFile });
    const { code } = await stopped(sidecar);
    expect(code).toBe(0);
    expect(existsSync(goodbyeFile)).toBe(true);
  });

  test('exits at once with status 1 at the second signal, together with its runtime', async () => {
    const pidFile = join(stage.folder, 'impatient.pid');
    const sidecar = await stage.sidecar('impatient', {
      ...IN_PYTHON,
      PID_FILE: pidFile,
      // With a free slot it keeps receiving, and logs when it stops.
      ASYA_CONCURRENCY: '2',
      ASYA_LOG_LEVEL: 'debug',
    });
    const counter = counterFile();
    await stage.send(envelopeAt('impatient', { do: 'hang', counter }));
    await until(() => callsIn(counter) > 0, 'the call has started');
    sidecar.signal('SIGTERM');
    // Two signals at the same time would count as one.
    await sidecar.untilLine(saying('draining'));
    expect(await stopped(sidecar)).toMatchObject({ code: 1 });
    expect(pidsIn(pidFile).length).toBe(1);
    await until(() => !pidsIn(pidFile).some(isAlive), 'the runtime is gone');
    expect((await stage.sqs.counts('impatient')).hidden).toBe(1);
  });

  test('ends before the runtime is ready', async () => {
    await stage.sqs.createQueue('early');
    const sidecar = startSidecar(
      stage.variables('early', { ASYA_RUNTIME_COMMAND: 'sleep 60', ASYA_METRICS_ADDR: '127.0.0.1:0' }),
    );
    await metricsPort(sidecar);
    const { code } = await stopped(sidecar);
    expect(code).toBe(0);
  });

  test('ends while it waits to restart a runtime that keeps dying', async () => {
    await stage.sqs.createQueue('dying');
    const sidecar = startSidecar(
      stage.variables('dying', { ASYA_RUNTIME_COMMAND: 'exit 7', ASYA_GRACE_PERIOD: '1s' }),
    );
    // The pause doubles: by now it takes seconds.
    await sidecar.untilLine(
      ({ message, restartInMs }) => message === 'the runtime ended' && Number(restartInMs) > 3_000,
    );
    const { code } = await stopped(sidecar);
    expect(code).toBe(0);
  });

  test('ends while a runtime over HTTP does not answer /healthz', async () => {
    let isHanging = false;
    const server = await startRawServer((socket) => {
      if (!isHanging) socket.write(responseOf(200, '1'));
    });
    try {
      const sidecar = await stage.sidecar('unresponsive', {
        ASYA_RUNTIME_URL: server.url,
        ASYA_GRACE_PERIOD: '10s',
      });
      isHanging = true;
      const checksBefore = server.requests.length;
      // The sidecar checks it every five seconds.
      await until(() => server.requests.length > checksBefore, 'the next health check');
      const { code } = await stopped(sidecar);
      expect(code).toBe(0);
    } finally {
      await server.close();
    }
  });
});
