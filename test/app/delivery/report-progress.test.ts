import { describe, expect, it } from 'vitest';
import { type HostContext, handleDelivery } from '../../../lib/app/delivery/handle-delivery.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import type { ProgressReport, StepReport } from '../../../lib/core/task/report.ts';
import type { Progress } from '../../../lib/ports/reports.ts';
import { anEnvelope, at, faultEnd } from '../../core/a-delivery.ts';
import { aLine, fakeRuntime } from '../a-line.ts';
import { followOn } from '../follow-calls.ts';
import { memoryBroker } from '../memory-broker.ts';
import { virtualClock } from '../virtual-clock.ts';

const HOSTING: HostContext = { timeLeftMs: Number.POSITIVE_INFINITY };
const IN_TASK = { headers: { 'x-asya-task': 't-1', 'x-asya-flow': 'enhance' } };
const VALUE = { kind: 'frames', frames: [{ payload: '1' }] } as unknown as CallResult;
const EMPTY = { kind: 'empty' } as CallResult;

interface DeliverOptions {
  readonly end?: CallResult;
  readonly callMs?: number;
  /** When the gateway says that the task is canceled, after the arrival. Default: never. */
  readonly canceledAfterMs?: number;
}

async function deliver(envelope: object, options: DeliverOptions = {}) {
  const { end = VALUE, callMs = 10, canceledAfterMs = Number.POSITIVE_INFINITY } = options;
  const clock = virtualClock();
  const startedAt = clock.now();
  const broker = memoryBroker({ clock });
  for (const queue of ['score', 'store', 'x-sink']) broker.createQueue(queue);
  const reports: (StepReport | ProgressReport)[] = [];
  let refreshes = 0;
  // Never sent: nothing may wait for it.
  const note: Progress['note'] = (report) => {
    reports.push(report);
    return new Promise(() => {});
  };
  const progress: Progress = {
    isCanceled: (task) => task === 't-1' && clock.now() - startedAt >= canceledAfterMs,
    refresh: () => {
      refreshes++;
    },
    note,
    follow: followOn(clock, note),
    flush: async () => {},
  };
  const runtime = fakeRuntime(async () => {
    await clock.sleep(callMs);
    return end;
  });
  const line = { ...aLine({ runtime, clock, transport: broker.transport() }), progress };
  const body = JSON.stringify(envelope);
  const delivered = handleDelivery({ body, messageId: 'm', queue: 'score', receiveCount: 1 }, HOSTING, line);
  const { settle } = await clock.passUntilSettled(delivered);
  const sent = (queue: string) => broker.bodiesIn(queue).map((text) => JSON.parse(text));
  const tookMs = clock.now() - startedAt;
  await clock.pass(10_000);
  return { reports, runtime, settle, sent, tookMs, refreshes };
}

describe('an envelope of a task', () => {
  it('is not reported if its call is short: the next report contains that it passed', async () => {
    const { reports, tookMs, refreshes, sent } = await deliver(anEnvelope(IN_TASK), { callMs: 999 });
    expect([reports, tookMs, refreshes]).toEqual([[], 999, 1]);
    expect(sent('store')).toHaveLength(1);
  });

  it('is reported once if its call takes a while, without waiting for it', async () => {
    const status = { phase: 'pending', actor: 'fetch', updated_at: at(-5_000) };
    const { reports, tookMs } = await deliver(anEnvelope({ ...IN_TASK, status }), { callMs: 60_000 });
    expect(tookMs).toBe(60_000);
    expect(reports).toEqual([
      {
        task: 't-1',
        flow: 'enhance',
        envelope_id: 'e-1',
        event: 'processing',
        actor: 'score',
        hop: 1,
        attempt: 1,
        route: { prev: ['fetch'], curr: 'score', next: ['store'] },
        arrived_at: at(0),
        left_at: at(-5_000),
      },
    ]);
  });

  it('ends as canceled without a call if its task is known to be canceled', async () => {
    const { reports, runtime, settle, sent } = await deliver(anEnvelope(IN_TASK), { canceledAfterMs: 0 });
    expect([reports.length, runtime.calls.length, settle]).toEqual([0, 0, 'ack']);
    expect(sent('x-sink')).toMatchObject([{ id: 'e-1', status: { phase: 'canceled', actor: 'score' } }]);
    expect(sent('store')).toEqual([]);
  });

  it.each([
    ['visiting the next actor', VALUE],
    [
      'fanning out',
      { kind: 'frames', frames: [{ payload: '1' }, { payload: '2' }] } as unknown as CallResult,
    ],
    ['another attempt', { kind: 'interrupted' } as CallResult],
  ])('ends as canceled instead of %s if its task was canceled during the call', async (_what, end) => {
    const { runtime, settle, sent } = await deliver(anEnvelope(IN_TASK), { end, canceledAfterMs: 5 });
    expect([runtime.calls.length, settle]).toEqual([1, 'ack']);
    expect(sent('x-sink')).toMatchObject([
      { id: 'e-1', payload: anEnvelope()['payload'], status: { phase: 'canceled', actor: 'score' } },
    ]);
    expect([...sent('store'), ...sent('score')]).toEqual([]);
  });

  it.each([
    ['succeeded', EMPTY],
    ['failed', faultEnd()],
  ])('keeps its end if its task was canceled during the call: %s', async (phase, end) => {
    const { sent } = await deliver(anEnvelope(IN_TASK), { end, canceledAfterMs: 5 });
    expect(sent('x-sink')).toMatchObject([{ status: { phase } }]);
  });
});

describe('an envelope without a task', () => {
  it('can be a replay, whose task has ended', async () => {
    const headers = { ...IN_TASK.headers, 'x-asya-replay': 'r-1' };
    const { reports, runtime, refreshes } = await deliver(anEnvelope({ headers }), {
      callMs: 60_000,
      canceledAfterMs: 0,
    });
    expect([reports, runtime.calls.length, refreshes]).toEqual([[], 1, 0]);
  });

  it('is not reported', async () => {
    const { reports, settle, refreshes } = await deliver(anEnvelope(), { callMs: 60_000 });
    expect([reports, settle, refreshes]).toEqual([[], 'ack', 0]);
  });
});
