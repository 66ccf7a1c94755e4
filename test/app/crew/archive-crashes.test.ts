import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deriveId } from '../../../lib/adapters/system/system.ts';
import { archiveWithBatches } from '../../../lib/app/crew/archive-with-batches.ts';
import { archiving } from '../../../lib/app/crew/archiving.ts';
import { encode } from '../../../lib/core/envelope/encode.ts';
import type { Envelope } from '../../../lib/core/envelope/envelope.ts';
import type { Archive } from '../../../lib/ports/archive.ts';
import type { EndRecords } from '../../../lib/ports/end-records.ts';
import type { Refusal } from '../../../lib/ports/reply.ts';
import { NOW } from '../../core/a-delivery.ts';
import { aFailed } from '../../core/an-end.ts';
import { memoryStores } from '../../replay/memory-stores.ts';
import { aSucceeded } from './an-archiving.ts';

/**
 * x-sink and its stores, with something going wrong at any request: it is refused, its answer is lost, or the process is
 * killed before or after it.
 */
type Fault = 'none' | 'refused' | 'answer lost' | 'killed before' | 'killed after';

const LOST: Refusal = { ok: false, problem: 'connection lost' };

interface Process {
  readonly store: (envelope: Envelope) => Promise<{ readonly ok: boolean }>;
  readonly killed: Promise<void>;
}

/** A process whose requests meet these faults, in order. */
function aProcess(stores: ReturnType<typeof memoryStores>, faults: readonly Fault[], now: number): Process {
  const { promise: killed, resolve: kill } = Promise.withResolvers<void>();
  let requests = 0;
  let isKilled = false;
  const never = () => new Promise<never>(() => {});
  const die = () => {
    isKilled = true;
    kill();
    return never();
  };
  async function guarded<T>(request: () => Promise<T>): Promise<T | Refusal> {
    if (isKilled) return never();
    const fault = faults[requests++] ?? 'none';
    if (fault === 'refused') return LOST;
    if (fault === 'killed before') return die();
    const answer = await request();
    if (fault === 'killed after') return die();
    return fault === 'answer lost' ? LOST : answer;
  }
  const { objects, records } = stores;
  const plain: Archive = {
    put: (key, text) =>
      guarded(async () => {
        objects.set(key, text);
        return { ok: true as const };
      }),
    get: (key) => guarded(async () => ({ ok: true as const, text: objects.get(key) })),
    has: (key) => guarded(async () => ({ ok: true as const, exists: objects.has(key) })),
    remove: () => Promise.resolve(LOST),
  };
  const claims: EndRecords = { ...records, claim: (record) => guarded(() => records.claim(record)) };
  const clock = { now: () => now, sleep: never };
  return {
    store: archiving({ archive: archiveWithBatches(plain), records: claims, clock, deriveId }),
    killed,
  };
}

/** Succeeded and failed envelopes, two of which are two ends of one id. */
const ENVELOPES: readonly Envelope[] = [
  ...['e-1', 'e-2', 'e-3', 'e-4'].map((id) => aSucceeded(id, { payload: `of ${id}` })),
  aSucceeded('e-4', { payload: 'at another hop', route: { prev: [], curr: '', next: [] } }),
  aFailed({ id: 'e-5', payload: 'failed' }),
  aFailed({ id: 'e-1', payload: 'failed too' }),
];

/** How often an envelope is in the bucket. */
function copiesOf(envelope: Envelope, objects: ReadonlyMap<string, string>): number {
  const text = encode(envelope);
  return [...objects.values()].reduce((count, object) => count + object.split(text).length - 1, 0);
}

const fault = fc.constantFrom<Fault>(
  'none',
  'none',
  'refused',
  'answer lost',
  'killed before',
  'killed after',
);
const round = fc.record({
  /** Which of the envelopes that are not acknowledged are delivered. */
  delivered: fc.subarray([...ENVELOPES.keys()], { minLength: 1 }),
  faults: fc.array(fault, { maxLength: 12 }),
});

it('an acknowledged envelope is archived, and every envelope is archived once, whatever goes wrong', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { maxLength: 5 }), async (rounds) => {
      const stores = memoryStores();
      const acknowledged = new Set<number>();
      const last = [...ENVELOPES.keys()].map((at) => ({ delivered: [at], faults: [] as Fault[] }));
      for (const [at, { delivered, faults }] of [...rounds, ...last].entries()) {
        const process = aProcess(stores, faults, NOW + at);
        const waiting = delivered.filter((index) => !acknowledged.has(index));
        await Promise.race([
          process.killed,
          Promise.all(
            waiting.map(async (index) => {
              const { ok } = await process.store(ENVELOPES[index] as Envelope);
              if (ok) acknowledged.add(index);
            }),
          ),
        ]);
        for (const index of acknowledged)
          expect(copiesOf(ENVELOPES[index] as Envelope, stores.objects)).toBe(1);
      }
      expect(acknowledged.size).toBe(ENVELOPES.length);
      const found: (string | undefined)[] = [];
      for (const id of new Set(ENVELOPES.map((one) => one.id))) {
        const ends = await stores.records.ofEnvelope(id);
        for (const { archiveKey = '' } of ends.ok ? ends.records : []) {
          const got = await stores.archive.get(archiveKey);
          found.push(got.ok ? got.text : undefined);
        }
      }
      expect(found.toSorted()).toEqual(ENVELOPES.map(encode).toSorted());
    }),
    { numRuns: 150 },
  );
});
