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

/** A client that never reaches a runtime. */
const UNREACHABLE: Runtime = {
  restartsItself: false,
  call: () => Promise.reject(new Error('not called')),
  interrupt: () => {},
  problem: async () => 'not listening',
  close: async () => {},
};

const environment = async () => ({ PATH: process.env['PATH'] ?? '', HEAVY });

function started(
  command: string,
  client = UNREACHABLE,
  more: Partial<Parameters<typeof processRuntime>[0]> = {},
): Runtime {
  const runtime = processRuntime({
    ...more,
    command,
    env: more.env ?? environment,
    client,
    clock: more.clock ?? systemClock,
    onLine: () => {},
    onWarning: more.onWarning ?? (() => {}),
  });
  opened.push(runtime);
  return runtime;
}

it('reports how a failed start ended, with its last line on stderr', async () => {
  const runtime = started('echo first >&2; echo "module not found" >&2; exit 7');
  await expect
    .poll(async () => detailOf(await runtime.call(requestWith(1, 50))))
    .toBe(
      "the handler's process exited with status 7 while it was starting; last line on stderr: module not found",
    );
});

it('reports that a runtime which is still starting is not ready', async () => {
  const runtime = started('exec sleep 600');
  expect(detailOf(await runtime.call(requestWith(1, 50)))).toBe("the handler's process did not become ready");
});

it('kills and restarts a runtime that does not become ready in time', async () => {
  const warnings: string[] = [];
  const runtime = started('exec sleep 600', UNREACHABLE, {
    startupTimeoutMs: 50,
    onWarning: (message, { reason }) =>
      warnings.push(reason === undefined ? message : `${message}: ${reason}`),
  });
  const late = 'the runtime did not become ready in time; killing it';
  const ended =
    'the runtime ended: exceeded its startup timeout of 50ms (ASYA_RUNTIME_STARTUP_TIMEOUT) and was killed';
  await expect.poll(() => warnings.slice(0, 4)).toEqual([late, ended, late, ended]);
  expect(detailOf(await runtime.call(requestWith(1, 10)))).toBe(
    "the handler's process exceeded its startup timeout of 50ms (ASYA_RUNTIME_STARTUP_TIMEOUT) and was killed",
  );
});

it('kills a runtime that is not ready when the given wait for the startup timeout is over', async () => {
  const warnings: string[] = [];
  const waits: { readonly milliseconds: number; readonly end: () => void }[] = [];
  const runtime = started('exec sleep 600', UNREACHABLE, {
    startupTimeoutMs: 1,
    startupSleep: (milliseconds) => new Promise((end) => waits.push({ milliseconds, end })),
    onWarning: (message) => warnings.push(message),
  });
  await expect.poll(() => waits.map(({ milliseconds }) => milliseconds)).toEqual([1]);
  // With the clock, the timeout would be over before this call has ended.
  expect(detailOf(await runtime.call(requestWith(1, 50)))).toContain('did not become ready');
  expect(warnings).toEqual([]);
  waits[0]?.end();
  await expect.poll(() => warnings[0]).toBe('the runtime did not become ready in time; killing it');
});

it('does not kill a runtime that became ready in time', async () => {
  const startupTimeoutMs = 7_000_000;
  let limit: AbortSignal | undefined;
  let probes = 0;
  const runtime = started(
    'exec sleep 600',
    { ...UNREACHABLE, problem: async () => (++probes < 3 ? 'loading' : undefined) },
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

it('stops waiting for the start when it fails, on stop and on interruption', async () => {
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

it('interrupts a call that waits for the runtime', async () => {
  const loading = started('exec sleep 600');
  const call = loading.call(requestWith(1));
  loading.interrupt();
  expect(await call).toEqual({ kind: 'interrupted' });
  const last = loading.call(requestWith(2));
  await loading.close();
  expect(await last).toEqual({ kind: 'interrupted' });
});

it('fails a call at once after a failed start, however long its timeout is', async () => {
  const sleeps: number[] = [];
  const runtime = started('echo "module not found" >&2; exit 7', UNREACHABLE, {
    clock: {
      ...systemClock,
      sleep: (milliseconds, signal) => {
        sleeps.push(milliseconds);
        return systemClock.sleep(milliseconds, signal);
      },
    },
  });
  await runtime.untilStarted?.(new AbortController().signal);
  // During the pause before the next start nothing is loading, so a call must not wait.
  expect(runtime.isStarting?.()).toBe(false);
  const timeoutMs = 86_400_000;
  expect(detailOf(await runtime.call(requestWith(1, timeoutMs)))).toBe(
    "the handler's process exited with status 7 while it was starting; last line on stderr: module not found",
  );
  expect(sleeps).not.toContain(timeoutMs);
});

it('waits for a runtime across failed starts, until one is ready or the signal aborts', async () => {
  let isListening = false;
  const runtime = started('exit 3', {
    ...UNREACHABLE,
    problem: async () => (isListening ? undefined : 'not listening'),
  });
  const stop = new AbortController();
  let isDone = false;
  const waiting = runtime.untilReady?.(stop.signal).then(() => {
    isDone = true;
  });
  // One or two failed starts.
  await clockSleep(300);
  expect(isDone).toBe(false);
  stop.abort();
  await waiting;
  isListening = true;
  await runtime.untilReady?.(new AbortController().signal);
});

/** Has 300 MB of memory, which the kernel takes a while to free. Echoes every request except `hang`. */
const HEAVY = `
  globalThis.ballast = Buffer.alloc(300_000_000, 1);
  const { rmSync } = require('node:fs');
  rmSync(process.argv[1], { force: true });
  require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => chunk.includes('hang') || socket.write(chunk));
  }).listen(process.argv[1]);
`;

it('waits until a killed runtime has ended, because its socket still accepts connections', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'asya-heavy-'));
  const path = join(folder, 'runtime.sock');
  const client = socketRuntime({ path, protocol: 'payload', fanOut: 'never', maxAnswerBytes: 1_000 });
  // `; true`, because the shell would otherwise replace itself with its last command.
  const runtime = started(`'${process.execPath}' -e "$HEAVY" '${path}'; true`, client);
  for (const _round of [1, 2, 3]) {
    expect(valueIn(await runtime.call(requestWith('hello')))).toBe('hello');
    expect(await runtime.call(requestWith('hang', 100))).toEqual({ kind: 'timeout' });
    expect(valueIn(await runtime.call(requestWith('again')))).toBe('again');
  }
  rmSync(folder, { recursive: true });
});
