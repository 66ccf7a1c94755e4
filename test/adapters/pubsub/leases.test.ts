import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leases } from '../../../lib/adapters/pubsub/leases.ts';
import type { Reply } from '../../../lib/ports/reply.ts';
import { fakeStream } from './a-stream.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const MIN_FIRST_MS = 10_000;

function makeLeases(visibilityMs: number) {
  const requests: { readonly at: number; readonly seconds: number }[] = [];
  let reply: Reply = { ok: true };
  const startedAt = performance.now();
  const manager = leases({
    visibilityMs,
    minFirstMs: MIN_FIRST_MS,
    setDeadline: async (_, seconds) => {
      requests.push({ at: Math.round(performance.now() - startedAt), seconds });
      return reply;
    },
  });
  const stream = fakeStream(
    10,
    () => {},
    () => {},
  );
  return {
    manager,
    stream,
    requests,
    refuse: () => {
      reply = { ok: false, problem: 'no' };
    },
    accept: () => {
      reply = { ok: true };
    },
  };
}

/** Checks that a message is hidden without a gap from its first deadline on, and returns until when. */
function hiddenUntil({ requests, manager }: ReturnType<typeof makeLeases>): number {
  let until = manager.firstSeconds * 1000;
  for (const { at, seconds } of requests) {
    expect(at, 'renewed before the previous deadline').toBeLessThan(until);
    until = at + seconds * 1000;
  }
  return until;
}

test('a message that is settled soon needs no request', async () => {
  const { manager, stream, requests } = makeLeases(600_000);
  const lease = manager.begin('a', stream);
  manager.handOut(lease);
  expect({ handedOut: manager.handedOut, unsettled: stream.unsettled }).toEqual({
    handedOut: 1,
    unsettled: 1,
  });
  await vi.advanceTimersByTimeAsync(4_000);
  manager.end(lease);
  manager.end(lease);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(requests).toEqual([]);
  expect({ handedOut: manager.handedOut, unsettled: stream.unsettled }).toEqual({
    handedOut: 0,
    unsettled: 0,
  });
  manager.stop();
});

test.each([10_000, 12_000, 77_000, 600_000, 3_600_000])(
  'a message in process stays hidden for the visibility timeout of %i ms, but not longer',
  async (visibilityMs) => {
    const fixture = makeLeases(visibilityMs);
    const { manager, stream } = fixture;
    manager.handOut(manager.begin('a', stream));
    await vi.advanceTimersByTimeAsync(visibilityMs * 2);
    const until = hiddenUntil(fixture);
    expect(until).toBeGreaterThanOrEqual(visibilityMs);
    expect(until).toBeLessThanOrEqual(visibilityMs + 1_000);
    expect({ handedOut: manager.handedOut, unsettled: stream.unsettled }).toEqual({
      handedOut: 0,
      unsettled: 0,
    });
    manager.stop();
  },
);

test('a visibility timeout below the first deadline is requested at once', async () => {
  const { manager, stream, requests } = makeLeases(2_000);
  manager.handOut(manager.begin('a', stream));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(requests).toEqual([{ at: 0, seconds: 2 }]);
  manager.stop();
});

test('a message that is not handed out stays hidden', async () => {
  const fixture = makeLeases(60_000);
  const { manager, stream } = fixture;
  manager.begin('a', stream);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(hiddenUntil(fixture)).toBeGreaterThan(3_600_000);
  manager.stop();
});

test('no deadline is above 30 s, so that the messages of a killed process are redelivered soon', async () => {
  const { manager, stream, requests } = makeLeases(3_600_000);
  manager.handOut(manager.begin('a', stream));
  await vi.advanceTimersByTimeAsync(600_000);
  expect(manager.firstSeconds).toBe(30);
  expect(requests.length).toBeGreaterThan(10);
  for (const { seconds } of requests) expect(seconds).toBeLessThanOrEqual(30);
  manager.stop();
});

test('a failed renewal is retried', async () => {
  const { manager, stream, requests, refuse, accept } = makeLeases(600_000);
  manager.handOut(manager.begin('a', stream));
  refuse();
  await vi.advanceTimersByTimeAsync(16_000);
  expect(requests).toHaveLength(1);
  accept();
  await vi.advanceTimersByTimeAsync(8_000);
  expect(requests).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(requests).toHaveLength(2);
  manager.stop();
});

test('extend() restarts the visibility timeout', async () => {
  const fixture = makeLeases(40_000);
  const { manager, stream } = fixture;
  const lease = manager.begin('a', stream);
  manager.handOut(lease);
  await vi.advanceTimersByTimeAsync(35_000);
  expect(await manager.extend(lease)).toEqual({ ok: true });
  await vi.advanceTimersByTimeAsync(80_000);
  const until = hiddenUntil(fixture);
  expect(until).toBeGreaterThanOrEqual(75_000);
  expect(until).toBeLessThanOrEqual(76_000);
  manager.stop();
});

test('a message released with a pause is not renewed, and counts as unsettled until the pause is over', async () => {
  const { manager, stream, requests } = makeLeases(600_000);
  const lease = manager.begin('a', stream);
  manager.handOut(lease);
  await manager.release(lease, 15);
  expect(manager.handedOut).toBe(0);
  await vi.advanceTimersByTimeAsync(14_000);
  expect(stream.unsettled).toBe(1);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(stream.unsettled).toBe(0);
  expect(requests).toEqual([{ at: 0, seconds: 15 }]);
  manager.stop();
});

test('a message released without a pause is settled at once', async () => {
  const { manager, stream, requests } = makeLeases(600_000);
  const lease = manager.begin('a', stream);
  manager.handOut(lease);
  await manager.release(lease, 0);
  expect({ handedOut: manager.handedOut, unsettled: stream.unsettled }).toEqual({
    handedOut: 0,
    unsettled: 0,
  });
  expect(requests).toEqual([{ at: 0, seconds: 0 }]);
  manager.stop();
});
