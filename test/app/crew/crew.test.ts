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

/** What the crew stores and reports, with stores that work as specified. */

const SINK: Crew = { role: 'sink', sump: 'x-sump' };
const SUMP: Crew = { role: 'sump' };
const DLQ: Crew = { role: 'dlq', queuePrefix: '' };

function crewFixture() {
  const stores = memoryStores();
  const reported: (readonly [Failure, boolean])[] = [];
  const deps: CrewDeps = {
    ...stores,
    reports: { report: async () => undefined },
    clock: { now: () => NOW, sleep: () => new Promise(() => {}) },
    deriveId,
    telemetry: { warn: () => {} },
    onFailure: (failure, isNew) => reported.push([failure, isNew]),
  };
  const process = (crew: Crew, envelope: Envelope, changes: Partial<CrewDeps> = {}) =>
    crewRuntime(crew, { ...deps, ...changes }).call({ envelope, timeoutMs: 1_000 });
  return { stores, reported, process };
}

const DONE = { kind: 'empty' };

describe('two ends of one envelope, at the same actor and on the same day', () => {
  const earlier = aFailed({ route: { prev: [], curr: 'score', next: [] }, payload: 'earlier' });
  const later = aFailed({ route: { prev: ['fetch'], curr: 'score', next: [] }, payload: 'later' });

  it('are both archived if the hops differ, each with its own failure record', async () => {
    const { stores, process } = crewFixture();
    for (const envelope of [earlier, later, earlier, later]) {
      for (const crew of [SINK, SUMP]) expect(await process(crew, envelope)).toEqual(DONE);
    }
    expect(stores.objects.size).toBe(2);
    const page = await stores.failures.ofEnvelope('e-1');
    const keys = page.ok ? page.failures.map(({ archiveKey }) => archiveKey) : [];
    const payloads = keys.map((key) => JSON.parse(stores.objects.get(key) ?? '{}').payload);
    expect(payloads.toSorted()).toEqual(['earlier', 'later']);
  });

  it('are stored once if the hop is the same, because it is a redelivery', async () => {
    const { stores, process } = crewFixture();
    for (const payload of ['first', 'second']) await process(SINK, aFailed({ payload }));
    expect([...stores.objects.values()].map((text) => JSON.parse(text).payload)).toEqual(['first']);
  });
});

describe.each([
  ['x-sump', SUMP],
  ['x-dlq', DLQ],
])('the failure report of %s', (_name, crew) => {
  it('is sent after a crash between indexing and reporting', async () => {
    const { reported, process } = crewFixture();
    const crash = () => {
      throw new Error('crashed');
    };
    await expect(process(crew, aFailed(), { onFailure: crash })).rejects.toThrow('crashed');
    expect(await process(crew, aFailed())).toEqual(DONE);
    expect(reported).toMatchObject([[{ envelopeId: 'e-1' }, false]]);
  });

  it('states whether the failure is new, and is not sent if indexing failed', async () => {
    const { stores, reported, process } = crewFixture();
    stores.breakDown('add');
    expect(await process(crew, aFailed())).toMatchObject({ kind: 'fault' });
    expect(reported).toEqual([]);
    stores.breakDown(undefined);
    for (let time = 0; time < 3; time++) await process(crew, aFailed());
    expect(reported.map(([, isNew]) => isNew)).toEqual([true, false, false]);
  });
});

describe.each([
  ['x-sink', SINK],
  ['x-dlq', DLQ],
])('a gateway that hangs', (name, crew) => {
  it(`uses the remaining time of ${name}, but does not cause a redelivery`, async () => {
    const { stores, process } = crewFixture();
    const clock = virtualClock();
    const envelope = aFailed({ headers: { 'x-asya-task': 't-1' } });
    const processed = process(crew, envelope, { clock, reports: { report: () => new Promise(() => {}) } });
    expect(await clock.passUntilSettled(processed, 1_000)).toEqual(DONE);
    expect(stores.objects.size).toBe(1);
  });
});
