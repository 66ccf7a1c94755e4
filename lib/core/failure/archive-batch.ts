import { readJson } from '../text/json-text.ts';

/**
 * Several envelopes in one object of the archive: a JSON object whose keys are the archive keys that the envelopes would
 * have on their own. It can be read without the end records that refer to it.
 */

/** Where an envelope is archived. */
export interface ArchivePlace {
  /** The key of the envelope's own object, or of its entry in a batch. */
  readonly key: string;
  /** The object that contains the entry. Undefined: the envelope has an object of its own. */
  readonly batch?: string;
}

/** Actor names in archive keys are URL-encoded and never contain `@`. */
const FOLDER = '@batches';
/** Does not occur in archive keys, because their parts are URL-encoded. */
const SEPARATOR = '#';

/** The key of a batch that can contain this envelope: batches are in the folder of their day. */
export function batchKeyFor(archiveKey: string, batchId: string): string {
  return [...archiveKey.split('/', 2), FOLDER, `${batchId}.json`].join('/');
}

/** The archive key of an envelope in a batch, as end records and reports contain it. */
export function keyInBatch(batch: string, archiveKey: string): string {
  return `${batch}${SEPARATOR}${archiveKey}`;
}

export function placeFromKey(archiveKey: string): ArchivePlace {
  const at = archiveKey.indexOf(SEPARATOR);
  return at < 0
    ? { key: archiveKey }
    : { batch: archiveKey.slice(0, at), key: archiveKey.slice(at + SEPARATOR.length) };
}

/** Envelopes are copied as text, so their payloads keep their bytes. */
export function textFromEntries(entries: ReadonlyMap<string, string>): string {
  return `{\n${[...entries].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',\n')}\n}\n`;
}

/** Undefined if the batch does not contain the entry. */
export function entryFromText(batch: string, key: string): string | undefined {
  const reading = readJson(batch);
  return reading.kind === 'object' ? reading.members.get(key) : undefined;
}
