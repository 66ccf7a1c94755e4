import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { processRuntime } from '../../../lib/adapters/runtime-process/process-runtime.ts';
import { socketRuntime } from '../../../lib/adapters/runtime-socket/socket-runtime.ts';
import { systemClock } from '../../../lib/adapters/system/system.ts';
import type { RenewableRuntime } from '../../../lib/ports/runtime.ts';
import { requestWith, valueIn } from '../runtime-socket/a-request.ts';

/** A real runtime is replaced to give its handler a new environment. */

const ROOT = join(import.meta.dirname, '../../..');
const HANDLER = `
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
export async function read({ started, until }) {
  if (started) writeFileSync(started, '');
  while (until && !existsSync(until)) await pause(10);
  return { key: process.env.KEY, pid: process.pid };
}
`;

let folder: string;
let runtime: RenewableRuntime | undefined;
let key: string | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'asya-renew-'));
  writeFileSync(join(folder, 'read.mjs'), HANDLER);
});
afterEach(async () => {
  await runtime?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Its environment is available once `key` has a value. */
function started(): RenewableRuntime {
  const path = join(folder, 'app.sock');
  runtime = processRuntime({
    command: `${process.execPath} ${ROOT}/runtimes/node/asya-runtime.ts ${folder}/read.mjs.read`,
    env: async () => {
      while (key === undefined) await systemClock.sleep(10);
      return { PATH: process.env['PATH'] ?? '', ASYA_RUNTIME_URL: `unix:${path}`, KEY: key };
    },
    waitsFor: () => (key === undefined ? 'waiting for KEY' : undefined),
    client: socketRuntime({ path, protocol: 'payload', fanOut: 'never', maxAnswerBytes: 10_000 }),
    clock: systemClock,
    onLine: () => {},
    onWarning: () => {},
  });
  return runtime;
}

const call = async (one: RenewableRuntime, payload: object = {}) =>
  valueIn(await one.call(requestWith(payload, 30_000))) as { key: string; pid: number };

it('lets a call in flight end in the old process, and uses a new process for the next', async () => {
  key = 'old';
  const one = started();
  const files = { started: join(folder, 'started'), until: join(folder, 'until') };
  const inFlight = call(one, files);
  await expect.poll(() => existsSync(files.started), { timeout: 30_000 }).toBe(true);
  key = 'new';
  one.renew();
  expect(one.isStarting?.()).toBe(true);
  const next = call(one);
  writeFileSync(files.until, '');
  const before = await inFlight;
  const after = await next;
  expect([before.key, after.key]).toEqual(['old', 'new']);
  expect(after.pid).not.toBe(before.pid);
  expect(await call(one)).toEqual(after);
});

it('waits for its environment without failing, and reports what it waits for', async () => {
  key = undefined;
  const one = started();
  expect(await one.problem()).toBe('waiting for KEY');
  const stop = new AbortController();
  const waiting = one.untilStarted?.(stop.signal);
  expect(one.isStarting?.()).toBe(true);
  key = 'late';
  expect(await waiting).toBe('settled');
  expect((await call(one)).key).toBe('late');
});

it('closes while it waits for its environment', async () => {
  key = undefined;
  await started().close();
  key = 'never used';
});
