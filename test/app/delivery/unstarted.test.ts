import { describe, expect, it } from 'vitest';
import { admit, startByMs } from '../../../lib/core/delivery/admit.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { anActor, anEnvelope, NOW, ORIGIN } from '../../core/a-delivery.ts';
import { type Handling, handling, socketAnswer } from '../a-handling.ts';

/** Calls that wait inside the runtime for their turn, and are not started in time. */

const UNSTARTED: CallResult = { kind: 'interrupted', isUnstarted: true };
const deadlineAfter = (milliseconds: number) => ({
  status: { deadline_at: new Date(NOW + milliseconds).toISOString() },
});

/** The first call is not started, and this time passes before the runtime reports it. */
async function afterWaiting(waitedMs: number, given: Handling = {}) {
  let now = NOW;
  let calls = 0;
  const result = await handling({
    clock: { now: () => now, sleep: () => Promise.resolve() },
    end: (fanOut) => {
      if (++calls > 1) return socketAnswer('{"ok":true}')(fanOut);
      now += waitedMs;
      return UNSTARTED;
    },
    ...given,
  });
  return { ...result, madeCalls: calls };
}

describe('a call that was not started in time', () => {
  it('is made again, and counts as one attempt', async () => {
    const { calls, sends, report } = await afterWaiting(1_500);
    expect(calls).toHaveLength(2);
    expect(sends).toMatchObject([{ to: 'store' }]);
    expect(report).toMatchObject({ attempt: 1, runtimeMs: 0 });
    expect(sends[0]?.envelope.status).toMatchObject({ attempt: 1 });
  });

  it('gets the rest of its deadline as timeout', async () => {
    const { calls } = await afterWaiting(1_500, {
      body: anEnvelope(deadlineAfter(60_000)),
      actor: { timeoutMs: 300_000 },
    });
    expect(calls.map(({ timeoutMs }) => timeoutMs)).toEqual([60_000, 58_500]);
  });

  it('is not made again after its deadline', async () => {
    const { calls, sends } = await afterWaiting(5_000, { body: anEnvelope(deadlineAfter(5_500)) });
    expect(calls).toHaveLength(1);
    expect(sends).toMatchObject([
      { to: 'x-sink', envelope: { status: { phase: 'failed', reason: 'Timeout' } } },
    ]);
  });

  it('goes back to the queue unchanged if the host has too little time left', async () => {
    const body = anEnvelope({ status: { phase: 'retrying', actor: 'score', attempt: 2 } });
    const { calls, sends, settle } = await afterWaiting(5_000, {
      body,
      actor: { timeoutMs: 10_000 },
      timeLeftMs: 14_000,
    });
    expect(calls).toHaveLength(1);
    expect(settle).toBe('ack');
    expect(sends).toMatchObject([{ to: 'score', envelope: { status: { attempt: 2, phase: 'retrying' } } }]);
  });

  it('goes back to the queue unchanged if the host is about to end', async () => {
    const { sends } = await afterWaiting(0, { end: { kind: 'interrupted' } });
    expect(sends).toMatchObject([{ to: 'score' }]);
  });
});

describe('until when a call may start', () => {
  const limitOf = (
    more: Readonly<Record<string, unknown>>,
    hostTimeLeftMs = Number.POSITIVE_INFINITY,
    timeoutMs = 10_000,
  ) => {
    const arrival = decode(JSON.stringify(anEnvelope(more)), ORIGIN);
    const admission = admit(arrival, anActor({ timeoutMs }), NOW, hostTimeLeftMs);
    if (admission.kind !== 'call') throw new Error(`it is not called: ${admission.kind}`);
    return startByMs(admission, NOW, hostTimeLeftMs) - NOW;
  };

  it.each<readonly [string, Readonly<Record<string, unknown>>, number, number]>([
    ['a second', {}, Number.POSITIVE_INFINITY, 1_000],
    ['a second before a later deadline', deadlineAfter(60_000), Number.POSITIVE_INFINITY, 1_000],
    [
      'as long as the deadline leaves the whole timeout',
      deadlineAfter(10_400),
      Number.POSITIVE_INFINITY,
      400,
    ],
    ['not at all if the deadline determines the timeout', deadlineAfter(5_000), Number.POSITIVE_INFINITY, 0],
    ['as long as the host leaves the whole timeout', {}, 10_300, 300],
    ['not at all on a host that is about to end', {}, 10_000, 0],
  ])('%s', (_title, more, hostTimeLeftMs, limit) => {
    expect(limitOf(more, hostTimeLeftMs)).toBe(limit);
  });

  it('a call that starts then would get the same timeout from a new admission', () => {
    for (const [deadlineMs, hostMs] of [
      [10_700, 11_000],
      [12_000, 10_050],
      [60_000, 60_000],
    ] as const) {
      const arrival = decode(JSON.stringify(anEnvelope(deadlineAfter(deadlineMs))), ORIGIN);
      const actor = anActor({ timeoutMs: 10_000 });
      const first = admit(arrival, actor, NOW, hostMs);
      if (first.kind !== 'call') throw new Error('it is not called');
      const latest = startByMs(first, NOW, hostMs);
      const again = admit(arrival, actor, latest, hostMs - (latest - NOW));
      expect(again).toMatchObject({ kind: 'call', timeoutMs: first.timeoutMs, boundBy: first.boundBy });
    }
  });
});
