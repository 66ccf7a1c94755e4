import { entryFromText, placeFromKey } from '../../core/failure/archive-batch.ts';
import type { Archive } from '../../ports/archive.ts';

/**
 * Reads envelopes that are archived in batches as if each had its own object.
 *
 * A batch is written after the end records that refer to it. If the process crashes in between, the redelivered envelope
 * gets its own object. So an envelope that is not in its batch is looked up under its own key.
 */
export function archiveWithBatches(objects: Archive): Archive {
  async function entryOf(batch: string, key: string): ReturnType<Archive['get']> {
    const got = await objects.get(batch);
    if (!got.ok || got.text === undefined) return got;
    return { ok: true, text: entryFromText(got.text, key) };
  }

  return {
    put: (key, text) => objects.put(key, text),
    get: async (archiveKey) => {
      const { batch, key } = placeFromKey(archiveKey);
      const entry = batch === undefined ? undefined : await entryOf(batch, key);
      return entry === undefined || (entry.ok && entry.text === undefined) ? objects.get(key) : entry;
    },
    has: async (archiveKey) => {
      const { batch, key } = placeFromKey(archiveKey);
      if (batch === undefined) return objects.has(key);
      const entry = await entryOf(batch, key);
      if (!entry.ok) return entry;
      return entry.text === undefined ? objects.has(key) : { ok: true, exists: true };
    },
    remove: async (archiveKey) => {
      const { batch, key } = placeFromKey(archiveKey);
      if (batch === undefined) return objects.remove(key);
      return {
        ok: false,
        problem: `"${key}" is archived in the batch "${batch}" and cannot be removed alone`,
      };
    },
  };
}
