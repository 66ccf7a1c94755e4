import { expect, it } from 'vitest';
import { secretValues } from '../../../lib/app/secrets/secret-values.ts';
import type { SecretReading } from '../../../lib/ports/secret-source.ts';
import { virtualClock } from '../virtual-clock.ts';

const REFRESH_MS = 300_000;

/** Secrets whose store answers as the test says. */
function aReader(...variables: readonly string[]) {
  const clock = virtualClock();
  const store = new Map<string, SecretReading>(
    variables.map((variable) => [variable, { ok: true, value: `${variable} 1` }]),
  );
  const warnings: unknown[] = [];
  const requests: string[] = [];
  const open = () =>
    secretValues({
      sources: variables.map((variable) => ({
        variable,
        description: `secret ${variable}`,
        read: async () => {
          requests.push(variable);
          return store.get(variable) ?? { ok: false, problem: 'not found' };
        },
      })),
      clock,
      refreshMs: REFRESH_MS,
      onWarning: (message, details) => warnings.push([message, details]),
    });
  return { clock, store, warnings, requests, open };
}

it('reads every secret once at the start', async () => {
  const { open, requests } = aReader('KEY', 'URL');
  const secrets = open();
  expect(await secrets.current()).toEqual({ KEY: 'KEY 1', URL: 'URL 1' });
  expect(await secrets.current()).toEqual({ KEY: 'KEY 1', URL: 'URL 1' });
  expect(secrets.problem()).toBeUndefined();
  expect(requests).toEqual(['KEY', 'URL']);
});

it('waits until every secret can be read, and reports which one cannot', async () => {
  const { open, store, warnings, clock } = aReader('KEY', 'URL');
  store.delete('URL');
  const secrets = open();
  const reading = secrets.current();
  await clock.pass(0);
  expect(secrets.problem()).toBe('waiting for secrets: URL (not found)');
  expect(warnings).toEqual([
    [
      'cannot read a secret; the actor waits for it',
      { variable: 'URL', secret: 'secret URL', problem: 'not found', retryInMs: 500 },
    ],
  ]);
  await clock.pass(60_000);
  store.set('URL', { ok: true, value: 'late' });
  expect(await clock.passUntilSettled(reading, 10_000)).toEqual({ KEY: 'KEY 1', URL: 'late' });
  expect(secrets.problem()).toBeUndefined();
});

it('reads again only when the values are due, and reports whether one has changed', async () => {
  const { open, store, clock } = aReader('KEY', 'URL');
  const secrets = open();
  await secrets.current();
  await clock.pass(REFRESH_MS - 1);
  expect(secrets.isDue()).toBe(false);
  await clock.pass(1);
  expect(secrets.isDue()).toBe(true);
  expect(await secrets.refresh()).toBe(false);
  expect(secrets.isDue()).toBe(false);
  store.set('KEY', { ok: true, value: 'rotated' });
  await clock.pass(REFRESH_MS);
  expect(await secrets.refresh()).toBe(true);
  expect(await secrets.current()).toEqual({ KEY: 'rotated', URL: 'URL 1' });
});

it('keeps all last values while one cannot be read, and tries again sooner', async () => {
  const { open, store, warnings, clock } = aReader('KEY', 'URL');
  const secrets = open();
  await secrets.current();
  await clock.pass(REFRESH_MS);
  store.set('KEY', { ok: true, value: 'rotated' });
  store.set('URL', { ok: false, problem: 'throttled' });
  expect(await secrets.refresh()).toBe(false);
  expect(await secrets.current()).toEqual({ KEY: 'KEY 1', URL: 'URL 1' });
  expect(secrets.problem()).toBeUndefined();
  expect(warnings).toEqual([
    [
      'cannot read a secret again; its last value stays in use',
      { variable: 'URL', secret: 'secret URL', problem: 'throttled', retryInMs: 30_000 },
    ],
  ]);
  await clock.pass(30_000);
  expect(secrets.isDue()).toBe(true);
  store.set('URL', { ok: true, value: 'URL 1' });
  expect(await secrets.refresh()).toBe(true);
});

it('stops reading when it is closed', async () => {
  const { open, store, requests, clock } = aReader('KEY');
  store.clear();
  const secrets = open();
  await clock.pass(0);
  secrets.close();
  await clock.pass(60_000);
  expect(requests).toEqual(['KEY']);
  expect(clock.sleepers).toBe(0);
});
