import { afterEach, expect, it } from 'vitest';
import { processRuntime } from '../../../lib/adapters/runtime-process/process-runtime.ts';
import { systemClock } from '../../../lib/adapters/system/system.ts';
import type { Runtime } from '../../../lib/ports/runtime.ts';
import { detailOf, requestWith } from '../runtime-socket/a-request.ts';

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

function started(command: string): Runtime {
  const runtime = processRuntime({
    command,
    env: { PATH: process.env['PATH'] ?? '' },
    client: NOBODY,
    clock: systemClock,
    onLine: () => {},
    onTrouble: () => {},
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
