import { describe, expect, it } from 'vitest';
import { deriveId } from '../../../lib/adapters/system/system.ts';
import { type CrewDeps, crewRuntime } from '../../../lib/app/crew/crew.ts';
import type { Crew } from '../../../lib/core/delivery/actor.ts';
import type { Envelope } from '../../../lib/core/envelope/envelope.ts';
import type { Failure } from '../../../lib/core/failure/failure.ts';
import { NOW } from '../../core/a-delivery.ts';
import { aFailed } from '../../core/an-end.ts';
import { memoryStores } from '../../replay/memory-stores.ts';
import { virtualClock } from '../virtual-clock.ts';

/** What the crew keeps and tells, over stores that do what they promise. */

const SINK: Crew = { role: 'sink', sump: 'x-sump' };
const SUMP: Crew = { role: 'sump' };
const DLQ: Crew = { role: 'dlq', queuePrefix: '' };

function aShelf() {
  const stores = memoryStores();
  const told: (readonly [Failure, boolean])[] = [];
  const shelf: CrewDeps = {
    ...stores,
    reports: { report: async () => undefined },
    clock: { now: () => NOW, sleep: () => new Promise(() => {}) },
    deriveId,
    telemetry: { warn: () => {} },
    onFailure: (failure, isNew) => told.push([failure, isNew]),
  };
  const hand = (crew: Crew, envelope: Envelope, changes: Partial<CrewDeps> = {}) =>
    crewRuntime(crew, { ...shelf, ...changes }).call({ envelope, timeoutMs: 1_000 });
  return { stores, told, hand };
}

const DONE = { kind: 'empty' };

describe('two ends of one id, at one actor and on one day', () => {
  const earlier = aFailed({ route: { prev: [], curr: 'score', next: [] }, payload: 'earlier' });
  const later = aFailed({ route: { prev: ['fetch'], curr: 'score', next: [] }, payload: 'later' });

  it('are both archived if the hops differ, each with its own failure', async () => {
    const { stores, hand } = aShelf();
    for (const envelope of [earlier, later, earlier, later]) {
      for (const crew of [SINK, SUMP]) expect(await hand(crew, envelope)).toEqual(DONE);
    }
    expect(stores.objects.size).toBe(2);
    const page = await stores.failures.ofEnvelope('e-1');
    const keys = page.ok ? page.failures.map(({ archiveKey }) => archiveKey) : [];
    const payloads = keys.map((key) => JSON.parse(stores.objects.get(key) ?? '{}').payload);
    expect(payloads.toSorted()).toEqual(['earlier', 'later']);
  });

  it('are one if the hop is the same, because it is a redelivery', async () => {
    const { stores, hand } = aShelf();
    for (const payload of ['first', 'second']) await hand(SINK, aFailed({ payload }));
    expect([...stores.objects.values()].map((text) => JSON.parse(text).payload)).toEqual(['first']);
  });
});

describe.each([
  ['x-sump', SUMP],
  ['x-dlq', DLQ],
])('the line that %s tells of a failure', (_name, crew) => {
  it('is reported after a crash between indexing and reporting', async () => {
    const { told, hand } = aShelf();
    const crash = () => {
      throw new Error('crashed');
    };
    await expect(hand(crew, aFailed(), { onFailure: crash })).rejects.toThrow('crashed');
    expect(await hand(crew, aFailed())).toEqual(DONE);
    expect(told).toMatchObject([[{ envelopeId: 'e-1' }, false]]);
  });

  it('reports whether the failure is new, and nothing that could not be indexed', async () => {
    const { stores, told, hand } = aShelf();
    stores.breakDown('enter');
    expect(await hand(crew, aFailed())).toMatchObject({ kind: 'fault' });
    expect(told).toEqual([]);
    stores.breakDown(undefined);
    for (let time = 0; time < 3; time++) await hand(crew, aFailed());
    expect(told.map(([, isNew]) => isNew)).toEqual([true, false, false]);
  });
});

describe.each([
  ['x-sink', SINK],
  ['x-dlq', DLQ],
])('a gateway that hangs', (name, crew) => {
  it(`costs ${name} what is left of its time, and no redelivery`, async () => {
    const { stores, hand } = aShelf();
    const clock = virtualClock();
    const envelope = aFailed({ headers: { 'x-asya-task': 't-1' } });
    const handed = hand(crew, envelope, { clock, reports: { report: () => new Promise(() => {}) } });
    expect(await clock.passUntilSettled(handed, 1_000)).toEqual(DONE);
    expect(stores.objects.size).toBe(1);
  });
});
