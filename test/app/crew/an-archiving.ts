import { deriveId } from '../../../lib/adapters/system/system.ts';
import { type ArchivingDeps, archiving } from '../../../lib/app/crew/archiving.ts';
import { encode } from '../../../lib/core/envelope/encode.ts';
import type { Envelope } from '../../../lib/core/envelope/envelope.ts';
import type { EndRecord } from '../../../lib/core/failure/record.ts';
import { NOW } from '../../core/a-delivery.ts';
import { A_FAILURE, aFailed } from '../../core/an-end.ts';
import { memoryStores } from '../../replay/memory-stores.ts';

const SUCCEEDED = { ...A_FAILURE, phase: 'succeeded', reason: 'Completed', error: null };

/** An envelope that succeeded at `score`, with some fields changed. */
export function aSucceeded(id: string, changes: Readonly<Record<string, unknown>> = {}): Envelope {
  return aFailed({ id, status: SUCCEEDED, ...changes });
}

export function endedOn(day: string) {
  return { status: { ...SUCCEEDED, updated_at: `${day}T12:00:00Z` } };
}

/** What records ends and archives their envelopes, with stores in memory. */
export function anArchiving(changes: Partial<ArchivingDeps> = {}) {
  const stores = memoryStores();
  let now = NOW;
  const clock = { now: () => now++, sleep: () => new Promise<void>(() => {}) };
  const store = archiving({ ...stores, clock, deriveId, ...changes });
  return {
    stores,
    /** Delivers the envelopes at the same time. Resolves with which of them may be acknowledged. */
    deliver: async (...envelopes: readonly Envelope[]) => {
      const replies = await Promise.all(envelopes.map((envelope) => store(envelope)));
      return replies.map(({ ok }) => ok);
    },
    recordsOf: async (id: string): Promise<readonly EndRecord[]> => {
      const ends = await stores.records.ofEnvelope(id);
      return ends.ok ? ends.records : [];
    },
    /** The texts of the archived envelopes, as readers find them. */
    archivedOf: async (id: string): Promise<readonly (string | undefined)[]> => {
      const ends = await stores.records.ofEnvelope(id);
      const keys = ends.ok ? ends.records.flatMap(({ archiveKey }) => archiveKey ?? []) : [];
      const texts = await Promise.all(keys.map((key) => stores.archive.get(key)));
      return texts.map((got) => (got.ok ? got.text : undefined));
    },
    textOf: encode,
  };
}
