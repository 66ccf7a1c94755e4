import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as clockSleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { processRuntime } from '../../../lib/adapters/runtime-process/process-runtime.ts';
import { socketRuntime } from '../../../lib/adapters/runtime-socket/socket-runtime.ts';
import { systemClock } from '../../../lib/adapters/system/system.ts';
import type { Runtime } from '../../../lib/ports/runtime.ts';
import { detailOf, requestWith, valueIn } from '../runtime-socket/a-request.ts';

const opened: Runtime[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** Nobody ever listens. */
const NOBODY: Runtime = {
  restartsItself: false,
  call: () => Promise.reject(new Error('nobody is called')),
  interrupt: () => {},
  problem: async () => 'nobody listens',
  close: async () => {},
};

function started(
  command: string,
  client = NOBODY,
  more: Partial<Parameters<typeof processRuntime>[0]> = {},
): Runtime {
  const runtime = processRuntime({
    ...more,
    command,
    env: { PATH: process.env['PATH'] ?? '', HEAVY },
    client,
    clock: more.clock ?? systemClock,
    onLine: () => {},
    onTrouble: more.onTrouble ?? (() => {}),
  });
  opened.push(runtime);
  return runtime;
}

it('tells whoever called a runtime that cannot start how it ended, and its last words', async () => {
  const runtime = started('echo first >&2; echo "there is no module" >&2; exit 7');
  await expect
    .poll(async () => detailOf(await runtime.call(requestWith(1, 50))))
    .toBe('the runtime did not become ready: it exited with status 7; there is no module');
});

it('tells no more than is known of one that is still starting', async () => {
  const runtime = started('exec sleep 600');
  expect(detailOf(await runtime.call(requestWith(1, 50)))).toBe('the runtime did not become ready');
});

it('kills a runtime that does not become ready in time, starts it again, and says so', async () => {
  const troubles: string[] = [];
  const runtime = started('exec sleep 600', NOBODY, {
    startupTimeoutMs: 50,
    onTrouble: (what, { how }) => troubles.push(how === undefined ? what : `${what}: ${how}`),
  });
  const late = 'the runtime did not become ready in time and is killed';
  const gone = 'the runtime is gone: did not become ready within 50ms (ASYA_RUNTIME_STARTUP_TIMEOUT)';
  await expect.poll(() => troubles.slice(0, 4)).toEqual([late, gone, late, gone]);
  expect(detailOf(await runtime.call(requestWith(1, 10)))).toBe(
    'the runtime did not become ready: it did not become ready within 50ms (ASYA_RUNTIME_STARTUP_TIMEOUT)',
  );
});

it('leaves a runtime alone that became ready in time', async () => {
  const startupTimeoutMs = 7_000_000;
  let limit: AbortSignal | undefined;
  let looks = 0;
  const runtime = started(
    'exec sleep 600',
    { ...NOBODY, problem: async () => (++looks < 3 ? 'loading' : undefined) },
    {
      startupTimeoutMs,
      clock: {
        ...systemClock,
        sleep: (milliseconds, signal) => {
          if (milliseconds === startupTimeoutMs) limit = signal;
          return systemClock.sleep(milliseconds, signal);
        },
      },
    },
  );
  expect(runtime.isStarting?.()).toBe(true);
  await runtime.untilStarted?.(new AbortController().signal);
  expect(runtime.isStarting?.()).toBe(false);
  expect(limit?.aborted).toBe(true);
});

it('a start that fails, a stop or an interruption ends the wait for it', async () => {
  const never = new AbortController().signal;
  expect(await started('exit 3').untilStarted?.(never)).toBe('settled');
  const stop = new AbortController();
  const loading = started('exec sleep 600');
  const [stopped, interrupted] = [loading.untilStarted?.(stop.signal), loading.untilStarted?.(never)];
  stop.abort();
  expect(await stopped).toBe('stopped');
  loading.interrupt();
  expect(await interrupted).toBe('interrupted');
  const closed = loading.untilStarted?.(never);
  await loading.close();
  expect(await closed).toBe('interrupted');
});

it('a call that waits for the runtime goes back unchanged when it is interrupted', async () => {
  const loading = started('exec sleep 600');
  const call = loading.call(requestWith(1));
  loading.interrupt();
  expect(await call).toEqual({ kind: 'interrupted' });
  const last = loading.call(requestWith(2));
  await loading.close();
  expect(await last).toEqual({ kind: 'interrupted' });
});

it('a call to a runtime that cannot be loaded fails at once, however long its timeout is', async () => {
  const sleeps: number[] = [];
  const runtime = started('echo "there is no module" >&2; exit 7', NOBODY, {
    clock: {
      ...systemClock,
      sleep: (milliseconds, signal) => {
        sleeps.push(milliseconds);
        return systemClock.sleep(milliseconds, signal);
      },
    },
  });
  await runtime.untilStarted?.(new AbortController().signal);
  // It pauses before its next start: nothing is loading that would be worth waiting for.
  expect(runtime.isStarting?.()).toBe(false);
  const timeoutMs = 86_400_000;
  expect(detailOf(await runtime.call(requestWith(1, timeoutMs)))).toBe(
    'the runtime did not become ready: it exited with status 7; there is no module',
  );
  expect(sleeps).not.toContain(timeoutMs);
});

it('tells when there is somebody to call, through lives that end before, or at once when told to stop', async () => {
  let isThere = false;
  const runtime = started('exit 3', {
    ...NOBODY,
    problem: async () => (isThere ? undefined : 'nobody listens'),
  });
  const stop = new AbortController();
  let isTold = false;
  const waiting = runtime.untilReady?.(stop.signal).then(() => {
    isTold = true;
  });
  // A life or two that end at once.
  await clockSleep(300);
  expect(isTold).toBe(false);
  stop.abort();
  await waiting;
  isThere = true;
  await runtime.untilReady?.(new AbortController().signal);
});

/** It has so much memory that the kernel takes its time to bury it, and answers all but `hang` with what came. */
const HEAVY = `
  globalThis.ballast = Buffer.alloc(300_000_000, 1);
  const { rmSync } = require('node:fs');
  rmSync(process.argv[1], { force: true });
  require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => chunk.includes('hang') || socket.write(chunk));
  }).listen(process.argv[1]);
`;

it('waits until a runtime that was killed is buried, whose socket takes connections for so long', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'asya-heavy-'));
  const path = join(folder, 'runtime.sock');
  const client = socketRuntime({ path, protocol: 'payload', fanOut: 'never', maxAnswerBytes: 1_000 });
  // Not the last command of the shell, which would become it.
  const runtime = started(`'${process.execPath}' -e "$HEAVY" '${path}'; true`, client);
  for (const _life of [1, 2, 3]) {
    expect(valueIn(await runtime.call(requestWith('well')))).toBe('well');
    expect(await runtime.call(requestWith('hang', 100))).toEqual({ kind: 'timeout' });
    expect(valueIn(await runtime.call(requestWith('afresh')))).toBe('afresh');
  }
  rmSync(folder, { recursive: true });
});
