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
import { ADMISSION_FATES } from './admission-fates.ts';
import type { Fate, FateActor } from './fate.ts';
import { meetFate, PATIENCE_MS } from './meet-fate.ts';
import { OUTCOME_FATES } from './outcome-fates.ts';
import { POLICIES, POLICY_FATES, RULES } from './policy-fates.ts';
import { sizeFates } from './size-fates.ts';
import { TIME_FATES } from './time-fates.ts';

/** Short, but not shorter than a busy machine takes to answer. */
const SHORT = { ASYA_RESILIENCY_ACTOR_TIMEOUT: '5s' };
const DEFAULT = { default: { maxAttempts: 2 } };

const SIDECARS: Readonly<Record<FateActor, Variables>> = {
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

const QUEUES = ['x-sink', 'x-sump', 'store', 'mend', 'alarms'];
/** What stays behind: an end actor's failure, which is nobody else's. */
const KEPT: Readonly<Record<string, number>> = { archive: 1 };
const TIMEOUT_MS = 2 * PATIENCE_MS;

/** A broker that may not be on this machine. */
export interface FateBroker {
  readonly name: string;
  readonly absence?: string;
  readonly maxBodyBytes: number;
  /** In Python without: each language has a broker at least. */
  readonly runtime?: string;
  start(): Promise<SidecarBroker>;
}

/**
 * The sidecar's end-to-end table: every fate of SPEC.md sections 3 to 5, with real sidecars and runtimes, on this
 * broker. What SPEC.md section 6 lets differ stands in the fates themselves.
 */
export function runFates({ name, absence, maxBodyBytes, runtime, start }: FateBroker): void {
  if (absence !== undefined) {
    console.log(`the fates on ${name}: left out, because ${absence}`);
    describe.skip(`the fates on ${name}`, () => test('are met', () => {}));
    return;
  }
  // Those that take long first: a few are met at the same time, and nobody is to wait for a last one alone. Those with
  // megabytes last: beside many others a send may take longer than it is waited for, and then it arrives twice.
  const fates: readonly Fate[] = [
    ...TIME_FATES,
    ...POLICY_FATES,
    ...ADMISSION_FATES,
    ...OUTCOME_FATES,
    ...sizeFates(maxBodyBytes),
  ];

  describe(`the fates on ${name}`, () => {
    let broker: SidecarBroker;
    let stage: BrokerStage;
    const sidecars = new Map<FateActor | 'shared' | 'orphan', RunningProcess>();
    const withRuntime = {
      ASYA_RUNTIME_COMMAND: runtime ?? pythonRuntime('behaviours.handle'),
      ASYA_RUNTIME_MAX_RESPONSE: String(maxBodyBytes + 1024 * 1024),
    };

    async function begin(
      actor: FateActor | 'shared' | 'orphan',
      variables: Variables,
    ): Promise<RunningProcess> {
      const sidecar = await stage.sidecar(actor, { ...withRuntime, ...variables });
      sidecars.set(actor, sidecar);
      return sidecar;
    }

    /** As a platform does it: each finishes what it has in hand. */
    async function endInOrder(): Promise<void> {
      for (const sidecar of sidecars.values()) sidecar.signal('SIGTERM');
      for (const [actor, sidecar] of sidecars)
        expect(await sidecar.untilExit(PATIENCE_MS), actor).toEqual({ code: 0, signal: null });
    }

    beforeAll(async () => {
      broker = await start();
      stage = await setStageOn(broker, QUEUES);
      await Promise.all(
        Object.entries(SIDECARS).map(([actor, variables]) => begin(actor as FateActor, variables)),
      );
    }, 4 * PATIENCE_MS);
    afterAll(() => stage?.close(), PATIENCE_MS);

    describe.concurrent('each by itself', () => {
      test('other calls of a runtime that is killed go back unchanged', { timeout: TIMEOUT_MS }, async () => {
        await begin('shared', { ASYA_CONCURRENCY: '2', ASYA_RESILIENCY_ACTOR_TIMEOUT: '10s' });
        const call = async (payload: object) => {
          const counter = join(stage.folder, randomUUID());
          const envelope = envelopeAt('shared', { ...payload, counter });
          await stage.send(envelope);
          await until(() => callsIn(counter) > 0, 'the call has begun', PATIENCE_MS);
          return { id: envelope.id, counter };
        };
        const hung = await call({ do: 'hang', times: 9 });
        const other = await call({ do: 'hang', value: 'after all' });
        const { status } = await stage.inbox.next('x-sink', hung.id, PATIENCE_MS);
        expect(status).toMatchObject({ phase: 'failed', reason: 'ActorTimeout', attempt: 1 });
        expect(await stage.inbox.next('x-sink', other.id, PATIENCE_MS)).toMatchObject({
          payload: 'after all',
          status: { phase: 'succeeded', attempt: 1 },
        });
        expect(callsIn(other.counter)).toBe(2);
      });

      test('a refused send means no ack, and nothing is lost', { timeout: 2 * TIMEOUT_MS }, async () => {
        const sidecar = await begin('orphan', { ASYA_ACTOR_SINK: 'x-late', ASYA_LOG_LEVEL: 'debug' });
        const envelopes = [
          envelopeAt('orphan', { value: 1 }),
          envelopeAt('orphan', { do: 'raise', error: 'ValueError' }),
        ];
        for (const envelope of envelopes) await stage.send(envelope);
        for (const { id } of envelopes) {
          const line = await sidecar.untilLine(
            ({ message, envelopeId }) => message === 'delivery' && envelopeId === id,
            PATIENCE_MS,
          );
          expect(line).toMatchObject({ settle: 'release', failed: 'transport_error' });
        }
        expect(sidecar.lines.filter(saying('acked'))).toEqual([]);
        await broker.createQueue('x-late');
        for (const { id } of envelopes) await stage.inbox.next('x-late', id, 2 * PATIENCE_MS);
      });

      for (const fate of fates) {
        test(fate.name, { timeout: TIMEOUT_MS }, async (context) => {
          if (fate.needsAnyBytes && broker.anyBytes !== 'yes') return context.skip(broker.anyBytes.no);
          await meetFate(fate, { broker, stage, sidecars });
        });
      }
    });

    test('nothing else arrived anywhere, and nothing is left', { timeout: TIMEOUT_MS }, async () => {
      for (const queue of [...QUEUES, 'x-late']) {
        const rest = await stage.inbox.rest(queue);
        expect(
          rest.map(({ id, status }) => ({ id, status })),
          queue,
        ).toEqual([]);
      }
      await endInOrder();
      const queues = [...Object.keys(SIDECARS), 'shared', 'orphan'].flatMap((actor) => [
        actor,
        `${actor}-dlq`,
      ]);
      const isAsMeant = (left: Readonly<Record<string, number>>) =>
        queues.every((queue) => {
          const [is = Number.NaN, kept = 0] = [left[queue], KEPT[queue]];
          return broker.countsHidden ? is === kept : is <= kept;
        });
      let left: Readonly<Record<string, number>> = {};
      // A broker's numbers may lag behind.
      await until(
        async () => {
          left = await broker.leftIn(queues);
          return isAsMeant(left);
        },
        () => `only what is meant to stay is left, but there is ${JSON.stringify(left)}`,
        PATIENCE_MS,
      );
    });
  });
}
