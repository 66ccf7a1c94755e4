import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SidecarBroker } from '../brokers/sidecar-broker.ts';
import { envelopeAt } from '../envelopes.ts';
import {
  callsIn,
  pythonRuntime,
  type RunningProcess,
  saying,
  until,
  type Variables,
} from '../sidecar-process.ts';
import { type BrokerStage, setStageOn } from '../stage.ts';
import { ADMISSION_CASES } from './admission-cases.ts';
import type { CaseActor, DeliveryCase } from './delivery-case.ts';
import { OUTCOME_CASES } from './outcome-cases.ts';
import { POLICIES, POLICY_CASES, RULES } from './policy-cases.ts';
import { runCase, WAIT_MS } from './run-case.ts';
import { sizeCases } from './size-cases.ts';
import { TIME_CASES } from './time-cases.ts';

/** Short, but long enough for an answer on a busy machine. */
const SHORT = { ASYA_RESILIENCY_ACTOR_TIMEOUT: '5s' };
const DEFAULT = { default: { maxAttempts: 2 } };

const SIDECARS: Readonly<Record<CaseActor, Variables>> = {
  score: {
    ASYA_CONCURRENCY: '4',
    ASYA_MAX_HOPS: '3',
    ASYA_RESILIENCY_POLICIES: JSON.stringify(POLICIES),
    ASYA_RESILIENCY_RULES: JSON.stringify(RULES),
  },
  whole: { ASYA_FANOUT: 'never' },
  frail: { ...SHORT, ASYA_RESILIENCY_POLICIES: JSON.stringify(DEFAULT) },
  hopeful: {
    ...SHORT,
    ASYA_RESILIENCY_POLICIES: JSON.stringify({ ...DEFAULT, once: { maxAttempts: 2 } }),
    ASYA_RESILIENCY_RULES: JSON.stringify([{ errors: ['TimeoutError'], policy: 'once' }]),
  },
  archive: { ASYA_IS_END_ACTOR: 'true' },
};

const QUEUES = ['x-sink', 'x-sump', 'store', 'repair', 'alarms'];
/** Messages that remain: an end actor's failed delivery stays in its queue. */
const REMAINING: Readonly<Record<string, number>> = { archive: 1 };
const TIMEOUT_MS = 2 * WAIT_MS;

/** A broker to run the cases on. */
export interface CaseBroker {
  readonly name: string;
  /** Why the broker is not available on this machine. */
  readonly absence?: string;
  readonly maxBodyBytes: number;
  /** The runtime's command. Default: the Python runtime. Each language is used with at least one broker. */
  readonly runtime?: string;
  start(): Promise<SidecarBroker>;
}

/**
 * The sidecar's end-to-end table: every outcome of SPEC.md sections 3 to 5, with real sidecars and runtimes, on this
 * broker. The cases contain the differences that SPEC.md section 6 allows.
 */
export function runCases({ name, absence, maxBodyBytes, runtime, start: startBroker }: CaseBroker): void {
  if (absence !== undefined) {
    console.log(`sidecar cases on ${name}: skipped, because ${absence}`);
    describe.skip(`sidecar cases on ${name}`, () => test('skipped', () => {}));
    return;
  }
  // Slow cases first, because a few run at the same time. Cases with megabytes last: while many others run, a send may
  // exceed its timeout, and then the envelope arrives twice.
  const cases: readonly DeliveryCase[] = [
    ...TIME_CASES,
    ...POLICY_CASES,
    ...ADMISSION_CASES,
    ...OUTCOME_CASES,
    ...sizeCases(maxBodyBytes),
  ];

  describe(`sidecar cases on ${name}`, () => {
    let broker: SidecarBroker;
    let stage: BrokerStage;
    const sidecars = new Map<CaseActor | 'shared' | 'orphan', RunningProcess>();
    const withRuntime = {
      ASYA_RUNTIME_COMMAND: runtime ?? pythonRuntime('behaviours.handle'),
      ASYA_RUNTIME_MAX_RESPONSE: String(maxBodyBytes + 1024 * 1024),
    };

    async function start(
      actor: CaseActor | 'shared' | 'orphan',
      variables: Variables,
    ): Promise<RunningProcess> {
      const sidecar = await stage.sidecar(actor, { ...withRuntime, ...variables });
      sidecars.set(actor, sidecar);
      return sidecar;
    }

    /** Stops the sidecars like a platform does: each finishes its deliveries in flight. */
    async function stopSidecars(): Promise<void> {
      for (const sidecar of sidecars.values()) sidecar.signal('SIGTERM');
      for (const [actor, sidecar] of sidecars)
        expect(await sidecar.untilExit(WAIT_MS), actor).toEqual({ code: 0, signal: null });
    }

    beforeAll(async () => {
      broker = await startBroker();
      stage = await setStageOn(broker, QUEUES);
      await Promise.all(
        Object.entries(SIDECARS).map(([actor, variables]) => start(actor as CaseActor, variables)),
      );
    }, 4 * WAIT_MS);
    afterAll(() => stage?.close(), WAIT_MS);

    describe.concurrent('deliveries', () => {
      test('resends other calls of a killed runtime unchanged', { timeout: TIMEOUT_MS }, async () => {
        await start('shared', { ASYA_CONCURRENCY: '2', ASYA_RESILIENCY_ACTOR_TIMEOUT: '10s' });
        const startCall = async (payload: object) => {
          const counter = join(stage.folder, randomUUID());
          const envelope = envelopeAt('shared', { ...payload, counter });
          await stage.send(envelope);
          await until(() => callsIn(counter) > 0, 'the call has started', WAIT_MS);
          return { id: envelope.id, counter };
        };
        const hung = await startCall({ do: 'hang', times: 9 });
        const other = await startCall({ do: 'hang', value: 'after all' });
        const { status } = await stage.inbox.next('x-sink', hung.id, WAIT_MS);
        expect(status).toMatchObject({ phase: 'failed', reason: 'ActorTimeout', attempt: 1 });
        expect(await stage.inbox.next('x-sink', other.id, WAIT_MS)).toMatchObject({
          payload: 'after all',
          status: { phase: 'succeeded', attempt: 1 },
        });
        expect(callsIn(other.counter)).toBe(2);
      });

      test('does not acknowledge after a refused send, and loses nothing', {
        timeout: 2 * TIMEOUT_MS,
      }, async () => {
        const sidecar = await start('orphan', { ASYA_ACTOR_SINK: 'x-late', ASYA_LOG_LEVEL: 'debug' });
        const envelopes = [
          envelopeAt('orphan', { value: 1 }),
          envelopeAt('orphan', { do: 'raise', error: 'ValueError' }),
        ];
        for (const envelope of envelopes) await stage.send(envelope);
        for (const { id } of envelopes) {
          const line = await sidecar.untilLine(
            ({ message, envelopeId }) => message === 'delivery' && envelopeId === id,
            WAIT_MS,
          );
          expect(line).toMatchObject({ settle: 'release', failed: 'transport_error' });
        }
        expect(sidecar.lines.filter(saying('acked'))).toEqual([]);
        await broker.createQueue('x-late');
        for (const { id } of envelopes) await stage.inbox.next('x-late', id, 2 * WAIT_MS);
      });

      for (const one of cases) {
        test(one.name, { timeout: TIMEOUT_MS }, async (context) => {
          if (one.needsAnyBytes && broker.anyBytes !== 'yes') return context.skip(broker.anyBytes.no);
          await runCase(one, { broker, stage, sidecars });
        });
      }
    });

    test('no other envelope arrived, and no message remains', { timeout: TIMEOUT_MS }, async () => {
      for (const queue of [...QUEUES, 'x-late']) {
        const rest = await stage.inbox.rest(queue);
        expect(
          rest.map(({ id, status }) => ({ id, status })),
          queue,
        ).toEqual([]);
      }
      await stopSidecars();
      const queues = [...Object.keys(SIDECARS), 'shared', 'orphan'].flatMap((actor) => [
        actor,
        `${actor}-dlq`,
      ]);
      const isAsExpected = (left: Readonly<Record<string, number>>) =>
        queues.every((queue) => {
          const [actual = Number.NaN, expected = 0] = [left[queue], REMAINING[queue]];
          return broker.countsHidden ? actual === expected : actual <= expected;
        });
      let left: Readonly<Record<string, number>> = {};
      // A broker's counts may be delayed.
      await until(
        async () => {
          left = await broker.leftIn(queues);
          return isAsExpected(left);
        },
        () => `the expected messages remain; there are ${JSON.stringify(left)}`,
        WAIT_MS,
      );
    });
  });
}
