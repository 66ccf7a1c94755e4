import { describe, expect, it } from 'vitest';
import { deriveId } from '../../lib/adapters/system/system.ts';
import { crewRuntime, type Shelf } from '../../lib/app/crew.ts';
import type { Crew } from '../../lib/core/actor.ts';
import type { Envelope } from '../../lib/core/envelope.ts';
import type { Failure } from '../../lib/core/failure.ts';
import { NOW } from '../core/a-delivery.ts';
import { aFailed } from '../core/an-end.ts';
import { memoryStores } from '../replay/memory-stores.ts';

/** What the crew keeps and tells, over stores that do what they promise. */

const SUMP: Crew = { role: 'sump' };
const DLQ: Crew = { role: 'dlq', queuePrefix: '' };

function aShelf() {
  const stores = memoryStores();
  const told: (readonly [Failure, boolean])[] = [];
  const shelf: Shelf = {
    ...stores,
    reports: { tell: async () => undefined },
    clock: { now: () => NOW, sleep: () => new Promise(() => {}) },
    deriveId,
    telemetry: { trouble: () => {} },
    onFailure: (failure, isNew) => told.push([failure, isNew]),
  };
  const hand = (crew: Crew, envelope: Envelope, changes: Partial<Shelf> = {}) =>
    crewRuntime(crew, { ...shelf, ...changes }).call({ envelope, timeoutMs: 1_000 });
  return { stores, told, hand };
}

const DONE = { kind: 'empty' };

describe.each([
  ['x-sump', SUMP],
  ['x-dlq', DLQ],
])('the line that %s tells of a failure', (_name, crew) => {
  it('is told after a crash between entering and telling', async () => {
    const { told, hand } = aShelf();
    const crash = () => {
      throw new Error('crashed');
    };
    await expect(hand(crew, aFailed(), { onFailure: crash })).rejects.toThrow('crashed');
    expect(await hand(crew, aFailed())).toEqual(DONE);
    expect(told).toMatchObject([[{ envelopeId: 'e-1' }, false]]);
  });

  it('says whether the failure was known, and is not told of what could not be entered', async () => {
    const { stores, told, hand } = aShelf();
    stores.breakDown('enter');
    expect(await hand(crew, aFailed())).toMatchObject({ kind: 'fault' });
    expect(told).toEqual([]);
    stores.breakDown(undefined);
    for (let time = 0; time < 3; time++) await hand(crew, aFailed());
    expect(told.map(([, isNew]) => isNew)).toEqual([true, false, false]);
  });
});
