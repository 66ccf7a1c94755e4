import { afterEach, expect, test } from 'vitest';
import { type RuntimeWatch, watchRuntime } from '../../lib/app/delivery/watch-runtime.ts';
import type { Details } from '../../lib/ports/telemetry.ts';
import { type VirtualClock, virtualClock } from '../app/virtual-clock.ts';

const ADDRESS = 'unix:/tmp/sockets/app.sock';

let watch: RuntimeWatch;
afterEach(() => watch.close());

interface Watched {
  readonly clock: VirtualClock;
  readonly details: readonly Details[];
  /** The log lines: level, message, and seconds waited. */
  lines(): readonly (readonly [string, string, number])[];
}

function watched(problem: () => string | undefined, startupTimeoutMs = 60_000): Watched {
  const clock = virtualClock();
  const logged: (readonly [string, string, Details])[] = [];
  watch = watchRuntime({
    runtime: { problem: async () => problem() },
    address: ADDRESS,
    startupTimeoutMs,
    clock,
    log: (...line) => logged.push(line),
  });
  return {
    clock,
    get details() {
      return logged.map(([, , details]) => details);
    },
    lines: () =>
      logged.map(([level, message, { waitedMs }]) => [level, message, Math.round(Number(waitedMs) / 1000)]),
  };
}

test('a lost runtime fails the health check after a minute, until it is back', async () => {
  let problem: string | undefined;
  const { clock } = watched(() => problem);
  await clock.pass(10_000);
  expect(watch.liveness()).toBeUndefined();
  problem = 'connect ENOENT';
  await clock.pass(50_000);
  expect(watch.liveness()).toBeUndefined();
  await clock.pass(20_000);
  expect(watch.liveness()).toMatch(
    /^the runtime at unix:\/tmp\/sockets\/app\.sock has not been ready for \d\d s: connect ENOENT$/,
  );
  problem = undefined;
  await clock.pass(6_000);
  expect(watch.liveness()).toBeUndefined();
});

test('a runtime that never starts fails the health check after a minute', async () => {
  const { clock } = watched(() => 'connect ENOENT');
  await clock.pass(59_000);
  expect(watch.liveness()).toBeUndefined();
  await clock.pass(2_000);
  expect(watch.liveness()).toBe(
    'the runtime at unix:/tmp/sockets/app.sock has not been ready for 61 s: connect ENOENT',
  );
});

test('the health check waits for the startup timeout', async () => {
  const { clock } = watched(() => 'loading', 600_000);
  await clock.pass(600_000);
  expect(watch.liveness()).toBeUndefined();
  await clock.pass(1_000);
  expect(watch.liveness()).toBe(
    'the runtime at unix:/tmp/sockets/app.sock has not been ready for 601 s: loading',
  );
});

test('logs the address, the problem and the time waited', async () => {
  let problem: string | undefined = 'connect ENOENT';
  const watching = watched(() => problem);
  const { clock, lines } = watching;
  await clock.pass(900);
  expect(lines()).toEqual([]);
  await clock.pass(70_000);
  expect(lines()).toEqual([
    ['warn', 'waiting for the runtime', 1],
    ['warn', 'waiting for the runtime', 31],
    ['warn', 'waiting for the runtime', 61],
  ]);
  expect(watching.details[0]).toMatchObject({ address: ADDRESS, problem: 'connect ENOENT' });
  problem = undefined;
  await clock.pass(1_000);
  expect(lines().slice(3)).toEqual([['info', 'the runtime is ready', 71]]);
});

test('logs nothing if the runtime is ready at once', async () => {
  let problem: string | undefined = 'loading';
  const { clock, lines } = watched(() => problem);
  await clock.pass(500);
  problem = undefined;
  await clock.pass(600_000);
  expect(lines()).toEqual([]);
});

test('logs a runtime that is lost later', async () => {
  let problem: string | undefined;
  const { clock, lines } = watched(() => problem);
  await clock.pass(100_000);
  problem = 'connect ECONNREFUSED';
  await clock.pass(12_000);
  expect(lines().map(([, message]) => message)).toEqual(['waiting for the runtime']);
});

test('waits until the runtime is ready for the first time', async () => {
  let problem: string | undefined = 'loading';
  const { clock } = watched(() => problem);
  let isReady = false;
  const waiting = watch.untilReady(new AbortController().signal).then(() => {
    isReady = true;
  });
  await clock.pass(5_000);
  expect(isReady).toBe(false);
  problem = undefined;
  await clock.pass(500);
  await waiting;
  expect(isReady).toBe(true);
});

test('stops waiting when stop aborts', async () => {
  const { clock } = watched(() => 'loading');
  const stop = new AbortController();
  const waiting = watch.untilReady(stop.signal);
  await clock.pass(5_000);
  stop.abort();
  await waiting;
});
