import { describe, expect, it } from 'vitest';
import { type HostContext, handleDelivery } from '../../../lib/app/delivery/handle-delivery.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import type { ProgressReport, StepReport } from '../../../lib/core/task/report.ts';
import type { Progress } from '../../../lib/ports/reports.ts';
import { anEnvelope, faultEnd } from '../../core/a-delivery.ts';
import { aLine, fakeRuntime } from '../a-line.ts';
import { memoryBroker } from '../memory-broker.ts';
import { virtualClock } from '../virtual-clock.ts';

const HOSTING: HostContext = { timeLeftMs: Number.POSITIVE_INFINITY };
const IN_TASK = { headers: { 'x-asya-task': 't-1', 'x-asya-flow': 'enhance' } };
const VALUE = { kind: 'frames', frames: [{ payload: '1' }] } as unknown as CallResult;

async function deliver(envelope: object, end: CallResult = VALUE, isCanceled = false) {
  const clock = virtualClock();
  const broker = memoryBroker({ clock });
  for (const queue of ['score', 'store', 'x-sink']) broker.createQueue(queue);
  const reports: (StepReport | ProgressReport)[] = [];
  const progress: Progress = {
    arrived: async (report) => {
      reports.push(report);
      return isCanceled;
    },
    note: async (report) => {
      reports.push(report);
    },
    flush: async () => {},
  };
  const runtime = fakeRuntime(() => end);
  const line = { ...aLine({ runtime, clock, transport: broker.transport() }), progress };
  const body = JSON.stringify(envelope);
  const { settle } = await handleDelivery(
    { body, messageId: 'm', queue: 'score', receiveCount: 1 },
    HOSTING,
    line,
  );
  const sent = (queue: string) => broker.bodiesIn(queue).map((text) => JSON.parse(text));
  return { reports, runtime, settle, sent };
}

describe('an envelope of a task', () => {
  it('is reported as received, processing and completed, with its new route', async () => {
    const { reports } = await deliver(anEnvelope(IN_TASK));
    expect(
      reports.map(({ event, actor, hop, attempt, route }) => [event, actor, hop, attempt, route.curr]),
    ).toEqual([
      ['received', 'score', 1, 1, 'score'],
      ['processing', 'score', 1, 1, 'score'],
      ['completed', 'score', 1, 1, 'store'],
    ]);
    expect(reports[0]).toMatchObject({ task: 't-1', flow: 'enhance', envelope_id: 'e-1' });
    expect(JSON.stringify(reports)).not.toContain('payload');
  });

  it('is not reported as completed if it fails', async () => {
    const { reports } = await deliver(anEnvelope(IN_TASK), faultEnd());
    expect(reports.map(({ event }) => event)).toEqual(['received', 'processing']);
  });

  it('ends as canceled without a call if its task was canceled', async () => {
    const { reports, runtime, settle, sent } = await deliver(anEnvelope(IN_TASK), VALUE, true);
    expect([reports.length, runtime.calls.length, settle]).toEqual([1, 0, 'ack']);
    expect(sent('x-sink')).toMatchObject([{ id: 'e-1', status: { phase: 'canceled', actor: 'score' } }]);
    expect(sent('store')).toEqual([]);
  });
});

describe('an envelope without a task', () => {
  it('can be a replay, whose task has ended', async () => {
    const headers = { ...IN_TASK.headers, 'x-asya-replay': 'r-1' };
    const { reports, runtime } = await deliver(anEnvelope({ headers }), VALUE, true);
    expect([reports, runtime.calls.length]).toEqual([[], 1]);
  });

  it('is not reported', async () => {
    const { reports, settle } = await deliver(anEnvelope());
    expect([reports, settle]).toEqual([[], 'ack']);
  });
});
