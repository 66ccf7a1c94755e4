import { describe, expect, it } from 'vitest';
import { gatewayProgress } from '../../../lib/adapters/gateway-http/gateway-progress.ts';
import type { Answer } from '../../../lib/adapters/gateway-http/signed-post.ts';
import { handleDelivery } from '../../../lib/app/delivery/handle-delivery.ts';
import { handlerUpdates } from '../../../lib/app/delivery/handler-updates.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { decode } from '../../../lib/core/envelope/decode.ts';
import type { Envelope } from '../../../lib/core/envelope/envelope.ts';
import type { ProgressReport, StepReport } from '../../../lib/core/task/report.ts';
import type { JsonText } from '../../../lib/core/text/json-text.ts';
import type { Progress } from '../../../lib/ports/reports.ts';
import type { RuntimeRequest } from '../../../lib/ports/runtime.ts';
import type { ReportedProgress } from '../../../lib/ports/telemetry.ts';
import { anEnvelope, deriveId } from '../../core/a-delivery.ts';
import { withoutRequestTimeouts } from '../../support/without-request-timeouts.ts';
import { aLine, fakeRuntime, recordingTelemetry } from '../a-line.ts';
import { memoryBroker } from '../memory-broker.ts';
import { type VirtualClock, virtualClock } from '../virtual-clock.ts';

const IN_TASK = { headers: { 'x-asya-task': 't-1', 'x-asya-flow': 'enhance' } };
const VALUE = { kind: 'frames', frames: [{ payload: '1' }] } as unknown as CallResult;
const TOO_LARGE = `"${'x'.repeat(5_000)}"` as JsonText;

function envelopeOf(changes: Readonly<Record<string, unknown>> = IN_TASK): Envelope {
  return decode(JSON.stringify(anEnvelope(changes)), { actor: 'score', messageId: 'm', deriveId }).envelope;
}

/** Records the reports. `sent` decides when a report was sent or lost. */
function recordingProgress(sent: () => Promise<void> = async () => {}) {
  const all: (StepReport | ProgressReport)[] = [];
  const progress: Progress = {
    isCanceled: () => false,
    refresh: () => {},
    note: (report) => {
      all.push(report);
      return sent();
    },
    follow: () => () => {},
    flush: async () => {},
  };
  return { all, progress };
}

/** The updates of an actor, on virtual time. */
function updatesWith(sent?: () => Promise<void>) {
  const clock = virtualClock();
  const telemetry = recordingTelemetry();
  const logged: ReportedProgress[] = [];
  const { all, progress } = recordingProgress(sent);
  const updates = handlerUpdates({
    actor: { name: 'score' },
    clock,
    progress,
    telemetry: { ...telemetry, progress: (one) => logged.push(one) },
  });
  const reports = () => all.filter((report) => report.event === 'progress');
  return { clock, telemetry, logged, updates, reports };
}

function values(reports: readonly ProgressReport[]): readonly (readonly unknown[])[] {
  return reports.map(({ percent, message }) => [percent, message]);
}

describe("a handler's updates", () => {
  it('are reported with the position of the envelope', async () => {
    const { updates, reports, clock } = updatesWith();
    const call = updates.begin(envelopeOf());
    call.onProgress({ percent: 40, message: 'frame 4', data: '{"n":1}' as JsonText });
    expect(reports()).toMatchObject([
      {
        task: 't-1',
        flow: 'enhance',
        envelope_id: 'e-1',
        event: 'progress',
        actor: 'score',
        hop: 1,
        attempt: 1,
        route: { prev: ['fetch'], curr: 'score', next: ['store'] },
        percent: 40,
        message: 'frame 4',
        data: '{"n":1}',
        order: clock.now(),
      },
    ]);
  });

  it('are reported a few times a second: the first one, then the latest ones', async () => {
    const { updates, reports, clock, logged } = updatesWith();
    const call = updates.begin(envelopeOf());
    for (let nth = 0; nth < 1_000; nth++) {
      call.onProgress({ percent: nth / 10 });
      await clock.pass(1);
    }
    call.end();
    const reported = reports();
    expect(values(reported)).toEqual([
      [0, undefined],
      [29.9, undefined],
      [59.9, undefined],
      [89.9, undefined],
      [99.9, undefined],
    ]);
    expect(logged).toHaveLength(reported.length);
    expect(reported.map(({ order }) => order)).toEqual(reported.map(({ order }) => order).toSorted());
  });

  it('are reported as one if they come at once, apart from the first', async () => {
    const { updates, reports, clock } = updatesWith();
    const call = updates.begin(envelopeOf());
    for (let nth = 1; nth <= 1_000; nth++) call.onProgress({ message: `step ${nth}` });
    call.end();
    await clock.pass(10_000);
    expect(values(reports())).toEqual([
      [undefined, 'step 1'],
      [undefined, 'step 1000'],
    ]);
  });

  it('keep the fields that a later update leaves out', async () => {
    const { updates, reports, clock } = updatesWith();
    const call = updates.begin(envelopeOf());
    call.onProgress({ percent: 10, message: 'loading' });
    call.onProgress({ percent: 20 });
    await clock.pass(300);
    call.onProgress({ message: 'saving' });
    call.end();
    expect(values(reports())).toEqual([
      [10, 'loading'],
      [20, 'loading'],
      [20, 'saving'],
    ]);
  });

  it('are ignored after the end of the call, and if they are empty', async () => {
    const { updates, reports, clock, logged } = updatesWith();
    const call = updates.begin(envelopeOf());
    call.onProgress({});
    call.onProgress({ percent: Number.NaN, message: '' });
    call.end();
    call.onProgress({ percent: 99 });
    await clock.pass(1_000);
    expect([reports(), logged]).toEqual([[], []]);
  });

  it('are throttled together for the envelopes of one task, and the latest of each is kept', async () => {
    const { updates, reports, clock } = updatesWith();
    const calls = ['e-1', 'e-2', 'e-3'].map((id) => updates.begin(envelopeOf({ ...IN_TASK, id })));
    const other = updates.begin(envelopeOf({ id: 'e-9', headers: { 'x-asya-task': 't-9' } }));
    for (let nth = 0; nth < 100; nth++) {
      for (const call of [...calls, other]) call.onProgress({ percent: nth });
    }
    await clock.pass(299);
    expect(reports().map(({ envelope_id, percent }) => [envelope_id, percent])).toEqual([
      ['e-1', 0],
      ['e-9', 0],
    ]);
    await clock.pass(100);
    expect(
      reports()
        .slice(2)
        .map(({ envelope_id, percent }) => [envelope_id, percent]),
    ).toEqual([
      ['e-2', 99],
      ['e-3', 99],
      ['e-1', 99],
      ['e-9', 99],
    ]);
  });

  it('contain limited values, and data that is too large is logged once', async () => {
    const { updates, reports, telemetry } = updatesWith();
    for (const id of ['e-1', 'e-2']) {
      const call = updates.begin(envelopeOf({ id, headers: { 'x-asya-task': id } }));
      call.onProgress({ percent: 500, message: 'm'.repeat(2_000), data: TOO_LARGE });
      call.end();
    }
    expect(reports()).toMatchObject([
      { percent: 100, message: 'm'.repeat(1024) },
      { percent: 100, message: 'm'.repeat(1024) },
    ]);
    expect(JSON.stringify(reports())).not.toContain('xxx');
    expect([telemetry.warnings.length, telemetry.warningDetails]).toEqual([
      1,
      [{ envelopeId: 'e-1', maxBytes: 4096 }],
    ]);
  });

  it.each([
    ['without a task', {}],
    ['of a replay, whose task has ended', { headers: { ...IN_TASK.headers, 'x-asya-replay': 'r-1' } }],
  ])('of an envelope %s are only logged, without their data', async (_, changes) => {
    const { updates, reports, logged } = updatesWith();
    const call = updates.begin(envelopeOf(changes));
    call.onProgress({ percent: 40, message: 'm', data: '{"n":1}' as JsonText });
    expect([reports(), logged]).toEqual([[], [{ envelopeId: 'e-1', percent: 40, message: 'm' }]]);
  });

  it('of a long call fill at most one place in the queue of a gateway that hangs', async () => {
    const hung: (() => void)[] = [];
    const { updates, clock, reports } = updatesWith(() => new Promise((resolve) => hung.push(resolve)));
    const call = updates.begin(envelopeOf());
    for (let nth = 0; nth < 100; nth++) {
      call.onProgress({ percent: nth });
      await clock.pass(1_000);
    }
    expect(values(reports())).toEqual([[0, undefined]]);
    hung[0]?.();
    await clock.pass(0);
    call.onProgress({ percent: 100 });
    call.end();
    expect(values(reports())).toEqual([
      [0, undefined],
      [99, undefined],
      [100, undefined],
    ]);
  });
});

describe('a delivery', () => {
  withoutRequestTimeouts();

  /** Delivers one envelope to a handler that reports 1,000 updates, each a millisecond after the other. */
  async function deliver(clock: VirtualClock, progress: Progress) {
    const updates = handlerUpdates({
      actor: { name: 'score' },
      clock,
      progress,
      telemetry: recordingTelemetry(),
    });
    const broker = memoryBroker({ clock });
    for (const queue of ['score', 'store', 'x-sink']) broker.createQueue(queue);
    let late: RuntimeRequest['onProgress'];
    // The bundled runtimes are tested with their protocol: this one only calls `onProgress`.
    const runtime = fakeRuntime(async ({ onProgress }) => {
      for (let nth = 1; nth <= 1_000; nth++) {
        onProgress?.({ percent: nth / 10, message: `step ${nth}` });
        await clock.sleep(1);
      }
      late = onProgress;
      return VALUE;
    });
    const line = { ...aLine({ runtime, clock, transport: broker.transport() }), progress, updates };
    const startedAt = clock.now();
    const { settle } = await clock.passUntilSettled(
      handleDelivery(
        { body: JSON.stringify(anEnvelope(IN_TASK)), messageId: 'm', queue: 'score', receiveCount: 1 },
        { timeLeftMs: Number.POSITIVE_INFINITY },
        line,
      ),
    );
    const tookMs = clock.now() - startedAt;
    late?.({ percent: 1, message: 'too late' });
    await clock.pass(1_000);
    return { settle, tookMs, sent: broker.bodiesIn('store').length };
  }

  it('reports the updates of its call, and nothing after it', async () => {
    const { all, progress } = recordingProgress();
    const { settle, sent } = await deliver(virtualClock(), progress);
    expect([settle, sent, all.map(({ event }) => event)]).toEqual([
      'ack',
      1,
      ['progress', 'progress', 'progress', 'progress', 'progress'],
    ]);
    expect(all.at(-1)).toMatchObject({ percent: 100, message: 'step 1000' });
  });

  it.each([
    ['hangs', () => new Promise<Answer>(() => {})],
    ['is down', async () => ({ problem: 'connection refused' })],
  ])('is not delayed or failed by a gateway that %s', async (_, answer) => {
    const clock = virtualClock();
    const progress = gatewayProgress({ clock, post: answer, onProblem: () => {} });
    const { settle, sent, tookMs } = await deliver(clock, progress);
    expect([settle, sent, tookMs]).toEqual(['ack', 1, 1_000]);
  });
});
