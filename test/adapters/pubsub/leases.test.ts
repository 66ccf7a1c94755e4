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

function aDesk(visibilityMs: number) {
  const asked: { readonly at: number; readonly seconds: number }[] = [];
  let reply: Reply = { ok: true };
  const beganAt = performance.now();
  const held = leases({
    visibilityMs,
    minFirstMs: MIN_FIRST_MS,
    setDeadline: async (_, seconds) => {
      asked.push({ at: Math.round(performance.now() - beganAt), seconds });
      return reply;
    },
  });
  const stream = fakeStream(
    10,
    () => {},
    () => {},
  );
  return {
    held,
    stream,
    asked,
    refuse: () => {
      reply = { ok: false, problem: 'no' };
    },
    accept: () => {
      reply = { ok: true };
    },
  };
}

/** Hidden without a gap from the first deadline on, and up to when. */
function hiddenUntil({ asked, held }: ReturnType<typeof aDesk>): number {
  let until = held.firstSeconds * 1000;
  for (const { at, seconds } of asked) {
    expect(at, 'renewed before it was over').toBeLessThan(until);
    until = at + seconds * 1000;
  }
  return until;
}

test('what is settled soon costs no request', async () => {
  const { held, stream, asked } = aDesk(600_000);
  const lease = held.begin('a', stream);
  held.handOut(lease);
  expect({ inHand: held.handedOut, unsettled: stream.unsettled }).toEqual({ inHand: 1, unsettled: 1 });
  await vi.advanceTimersByTimeAsync(4_000);
  held.end(lease);
  held.end(lease);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual([]);
  expect({ inHand: held.handedOut, unsettled: stream.unsettled }).toEqual({ inHand: 0, unsettled: 0 });
  held.stop();
});

test.each([10_000, 12_000, 77_000, 600_000, 3_600_000])(
  'what is worked on stays hidden for %i ms, and no longer',
  async (visibilityMs) => {
    const desk = aDesk(visibilityMs);
    const { held, stream } = desk;
    held.handOut(held.begin('a', stream));
    await vi.advanceTimersByTimeAsync(visibilityMs * 2);
    const until = hiddenUntil(desk);
    expect(until).toBeGreaterThanOrEqual(visibilityMs);
    expect(until).toBeLessThanOrEqual(visibilityMs + 1_000);
    expect({ inHand: held.handedOut, unsettled: stream.unsettled }).toEqual({ inHand: 0, unsettled: 0 });
    held.stop();
  },
);

test('a visibility below the first deadline is asked for at once', async () => {
  const { held, stream, asked } = aDesk(2_000);
  held.handOut(held.begin('a', stream));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(asked).toEqual([{ at: 0, seconds: 2 }]);
  held.stop();
});

test('what nobody asks for stays hidden for as long as it waits', async () => {
  const desk = aDesk(60_000);
  const { held, stream } = desk;
  held.begin('a', stream);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(hiddenUntil(desk)).toBeGreaterThan(3_600_000);
  held.stop();
});

test('a killed process leaves nothing hidden for longer than half a minute', async () => {
  const { held, stream, asked } = aDesk(3_600_000);
  held.handOut(held.begin('a', stream));
  await vi.advanceTimersByTimeAsync(600_000);
  expect(held.firstSeconds).toBe(30);
  expect(asked.length).toBeGreaterThan(10);
  for (const { seconds } of asked) expect(seconds).toBeLessThanOrEqual(30);
  held.stop();
});

test('a renewal that fails is tried again', async () => {
  const { held, stream, asked, refuse, accept } = aDesk(600_000);
  held.handOut(held.begin('a', stream));
  refuse();
  await vi.advanceTimersByTimeAsync(16_000);
  expect(asked).toHaveLength(1);
  accept();
  await vi.advanceTimersByTimeAsync(8_000);
  expect(asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toHaveLength(2);
  held.stop();
});

test('extending begins the visibility time again', async () => {
  const desk = aDesk(40_000);
  const { held, stream } = desk;
  const lease = held.begin('a', stream);
  held.handOut(lease);
  await vi.advanceTimersByTimeAsync(35_000);
  expect(await held.extend(lease)).toEqual({ ok: true });
  await vi.advanceTimersByTimeAsync(80_000);
  const until = hiddenUntil(desk);
  expect(until).toBeGreaterThanOrEqual(75_000);
  expect(until).toBeLessThanOrEqual(76_000);
  held.stop();
});

test("what is released with a pause is not renewed, and counts as its stream's until the pause is over", async () => {
  const { held, stream, asked } = aDesk(600_000);
  const lease = held.begin('a', stream);
  held.handOut(lease);
  await held.release(lease, 15);
  expect(held.handedOut).toBe(0);
  await vi.advanceTimersByTimeAsync(14_000);
  expect(stream.unsettled).toBe(1);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(stream.unsettled).toBe(0);
  expect(asked).toEqual([{ at: 0, seconds: 15 }]);
  held.stop();
});

test('what is released without a pause is free at once', async () => {
  const { held, stream, asked } = aDesk(600_000);
  const lease = held.begin('a', stream);
  held.handOut(lease);
  await held.release(lease, 0);
  expect({ inHand: held.handedOut, unsettled: stream.unsettled }).toEqual({ inHand: 0, unsettled: 0 });
  expect(asked).toEqual([{ at: 0, seconds: 0 }]);
  held.stop();
});
