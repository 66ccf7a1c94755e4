import { expect, it } from 'vitest';
import type { SecretValues } from '../../../lib/app/secrets/secret-values.ts';
import { withFreshSecrets } from '../../../lib/app/secrets/with-fresh-secrets.ts';
import type { RenewableRuntime } from '../../../lib/ports/runtime.ts';
import { virtualClock } from '../virtual-clock.ts';

const GO = new AbortController().signal;

/** A runtime and secrets that only record what is done with them. */
function aRuntime(refresh: () => Promise<boolean>) {
  const clock = virtualClock();
  const done: string[] = [];
  let isDue = true;
  const runtime: RenewableRuntime = {
    restartsItself: true,
    call: () => Promise.reject(new Error('not called')),
    interrupt: () => done.push('interrupt'),
    isStarting: () => false,
    untilStarted: async () => 'settled',
    problem: async () => undefined,
    renew: () => done.push('renew'),
    close: async () => void done.push('close'),
  };
  const secrets: SecretValues = {
    current: async () => ({}),
    problem: () => undefined,
    isDue: () => isDue,
    refresh: async () => {
      done.push('refresh');
      const hasChanged = await refresh();
      isDue = false;
      return hasChanged;
    },
    close: () => done.push('close secrets'),
  };
  return { clock, done, runtime: withFreshSecrets(runtime, secrets, clock, () => done.push('log')) };
}

it('renews the runtime before a call if a secret has changed', async () => {
  const { runtime, done } = aRuntime(async () => true);
  expect(runtime.isStarting?.()).toBe(true);
  expect(await runtime.untilStarted?.(GO)).toBe('settled');
  expect(done).toEqual(['refresh', 'log', 'renew']);
  expect(runtime.isStarting?.()).toBe(false);
});

it('keeps the runtime if no secret has changed', async () => {
  const { runtime, done } = aRuntime(async () => false);
  expect(await runtime.untilStarted?.(GO)).toBe('settled');
  expect(done).toEqual(['refresh']);
});

it('reads once for all deliveries that wait', async () => {
  const { runtime, done } = aRuntime(async () => true);
  await Promise.all([runtime.untilStarted?.(GO), runtime.untilStarted?.(GO)]);
  expect(done).toEqual(['refresh', 'log', 'renew']);
});

it('uses the last values if the store does not answer within two seconds', async () => {
  const { runtime, done, clock } = aRuntime(() => new Promise(() => {}));
  const started = clock.now();
  expect(await clock.passUntilSettled(Promise.resolve(runtime.untilStarted?.(GO)))).toBe('settled');
  expect(clock.now() - started).toBe(2_000);
  expect(done).toEqual(['refresh']);
});

it('ends the wait when the runtime is interrupted or the delivery is stopped', async () => {
  const { runtime, clock } = aRuntime(() => new Promise(() => {}));
  const waiting = runtime.untilStarted?.(GO);
  runtime.interrupt();
  expect(await waiting).toBe('interrupted');
  const stop = new AbortController();
  const other = runtime.untilStarted?.(stop.signal);
  stop.abort();
  expect(await other).toBe('stopped');
  expect(clock.sleepers).toBe(0);
});

it('closes secrets and runtime', async () => {
  const { runtime, done } = aRuntime(async () => false);
  await runtime.close();
  expect(done).toEqual(['close secrets', 'close']);
});
