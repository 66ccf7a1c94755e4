import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SidecarBroker } from '../brokers/sidecar-broker.ts';
import { envelopeAt } from '../envelopes.ts';
import { pythonRuntime, type RunningProcess, saying, until, type Variables } from '../sidecar-process.ts';
import { type BrokerStage, setStageOn } from '../stage.ts';
import { ADMISSION_FATES } from './admission-fates.ts';
import type { Fate, FateActor } from './fate.ts';
import { meetFate, PATIENCE_MS } from './meet-fate.ts';
import { OUTCOME_FATES } from './outcome-fates.ts';
import { POLICIES, POLICY_FATES, RULES } from './policy-fates.ts';
import { sizeFates } from './size-fates.ts';
import { TIME_FATES } from './time-fates.ts';

const SHORT = { ASYA_RESILIENCY_ACTOR_TIMEOUT: '3s' };
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
  start(): Promise<SidecarBroker>;
}

/**
 * The sidecar's end-to-end table: every fate of SPEC.md sections 3 to 5, with real sidecars and runtimes, on this
 * broker. What SPEC.md section 6 lets differ stands in the fates themselves.
 */
export function runFates({ name, absence, maxBodyBytes, start }: FateBroker): void {
  if (absence !== undefined) {
    console.log(`the fates on ${name}: left out, because ${absence}`);
    describe.skip(`the fates on ${name}`, () => test('are met', () => {}));
    return;
  }
  const fates: readonly Fate[] = [
    ...OUTCOME_FATES,
    ...ADMISSION_FATES,
    ...POLICY_FATES,
    ...TIME_FATES,
    ...sizeFates(maxBodyBytes),
  ];

  describe(`the fates on ${name}`, () => {
    let broker: SidecarBroker;
    let stage: BrokerStage;
    const sidecars = new Map<FateActor, RunningProcess>();
    const inPython = {
      ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
      ASYA_RUNTIME_MAX_RESPONSE: String(maxBodyBytes + 1024 * 1024),
    };

    beforeAll(async () => {
      broker = await start();
      stage = await setStageOn(broker, QUEUES);
      for (const [actor, variables] of Object.entries(SIDECARS))
        sidecars.set(actor as FateActor, await stage.sidecar(actor, { ...inPython, ...variables }));
    }, 4 * PATIENCE_MS);
    afterAll(() => stage?.close(), PATIENCE_MS);

    describe.concurrent('each by itself', () => {
      for (const fate of fates) {
        test(fate.name, { timeout: TIMEOUT_MS }, async (context) => {
          if (fate.needsAnyBytes && broker.anyBytes !== 'yes') return context.skip(broker.anyBytes.no);
          await meetFate(fate, { broker, stage, sidecars });
        });
      }

      test('other calls of a runtime that is killed go back unchanged', { timeout: TIMEOUT_MS }, async () => {
        await stage.sidecar('shared', {
          ...inPython,
          ASYA_CONCURRENCY: '2',
          ASYA_RESILIENCY_ACTOR_TIMEOUT: '10s',
        });
        const begin = async (payload: object) => {
          const counter = join(stage.folder, randomUUID());
          const envelope = envelopeAt('shared', { ...payload, counter });
          await stage.send(envelope);
          await until(() => existsSync(counter), 'the call has begun', PATIENCE_MS);
          return { id: envelope.id, counter };
        };
        const hung = await begin({ do: 'hang', times: 9 });
        const other = await begin({ do: 'hang', value: 'after all' });
        const { status } = await stage.inbox.next('x-sink', hung.id, PATIENCE_MS);
        expect(status).toMatchObject({ phase: 'failed', reason: 'ActorTimeout', attempt: 1 });
        expect(await stage.inbox.next('x-sink', other.id, PATIENCE_MS)).toMatchObject({
          payload: 'after all',
          status: { phase: 'succeeded', attempt: 1 },
        });
        expect(readFileSync(other.counter, 'utf8').length).toBe(2);
      });

      test('a refused send means no ack, and nothing is lost', { timeout: 2 * TIMEOUT_MS }, async () => {
        const sidecar = await stage.sidecar('orphan', {
          ...inPython,
          ASYA_ACTOR_SINK: 'x-late',
          ASYA_LOG_LEVEL: 'debug',
        });
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
    });

    test('nothing else arrived anywhere, and nothing is left', { timeout: TIMEOUT_MS }, async () => {
      for (const queue of [...QUEUES, 'x-late']) {
        const rest = await stage.inbox.rest(queue);
        expect(
          rest.map(({ id, status }) => ({ id, status })),
          queue,
        ).toEqual([]);
      }
      const queues = [...Object.keys(SIDECARS), 'shared', 'orphan'].flatMap((actor) => [
        actor,
        `${actor}-dlq`,
      ]);
      const expected = Object.fromEntries(queues.map((queue) => [queue, KEPT[queue] ?? 0]));
      let left: Readonly<Record<string, number>> = {};
      // The last acks may be under way.
      await until(
        async () => {
          left = await broker.leftIn(queues);
          return isDeepStrictEqual(left, expected);
        },
        () => `only what is meant to stay is left, but there is ${JSON.stringify(left)}`,
        PATIENCE_MS,
      );
    });
  });
}
