import type { DeriveId } from '../../core/envelope/decode.ts';
import type { EndRecord, NewRecord } from '../../core/failure/record.ts';
import { defined } from '../../core/text/defined.ts';
import type { EndRecords } from '../../ports/end-records.ts';
import { itemFromRecord, recordFromItem } from './end-record-item.ts';
import { envelopeKey } from './envelope-id.ts';
import { getItem, type Item, putNew, queryAll, refusalOf, type Table, text, textOf } from './table.ts';

/** Key prefix of end records. */
export const RECORD_PREFIX = 'record#';

interface Stored extends EndRecord {
  readonly isFirst: boolean;
}

/**
 * The first end of an envelope has a key that is made from the envelope's id. So it is found without the index
 * `by-envelope`, in which an item would cost another write. The other ends, and those of replays, are in the index.
 */
export function dynamoDbEndRecords(table: Table, deriveId: DeriveId): EndRecords {
  const firstKey = (envelopeId: string) => `${RECORD_PREFIX}first#${envelopeKey(envelopeId, deriveId)}`;
  const keyOf = (place: string) => `${RECORD_PREFIX}${place}`;

  async function recordAt(pk: string): Promise<EndRecord | undefined> {
    const item = await getItem(table, pk);
    return item === undefined ? undefined : recordFromItem(item);
  }

  /** Stores the record unless there is one already, and returns the one that is stored. */
  async function put(pk: string, record: EndRecord, isIndexed: boolean): Promise<Stored> {
    const { envelope_key, ...item } = itemFromRecord(record, deriveId) as Item & {
      envelope_key: Item[string];
    };
    const isFirst = await putNew(table, { pk: text(pk), ...item, ...(isIndexed && { envelope_key }) });
    return isFirst ? { ...record, isFirst } : { ...((await recordAt(pk)) ?? record), isFirst };
  }

  /** Stores an end that is not the first of its envelope. `first` may have its place. */
  async function putOther(record: NewRecord, first: EndRecord | undefined): Promise<Stored> {
    const { identity, place, alternativeKey } = record;
    if (first === undefined || !hasSamePlace(first, record)) {
      const stored = await put(keyOf(place), record, true);
      if (stored.identity === identity) return stored;
    }
    return put(keyOf(identity), { ...record, ...defined({ archiveKey: alternativeKey }) }, true);
  }

  async function claim(record: NewRecord): Promise<Stored> {
    if (record.replay !== undefined) return putOther(record, undefined);
    const first = await put(firstKey(record.envelopeId), record, false);
    return first.identity === record.identity ? first : putOther(record, first);
  }

  async function find({ identity, place, replay, envelopeId }: NewRecord): Promise<EndRecord | undefined> {
    const keys = [...(replay === undefined ? [firstKey(envelopeId)] : []), keyOf(place), keyOf(identity)];
    for (const pk of keys) {
      const record = await recordAt(pk);
      if (record?.identity === identity) return record;
    }
    return undefined;
  }

  async function ofEnvelope(envelopeId: string): Promise<readonly EndRecord[]> {
    const value = envelopeKey(envelopeId, deriveId);
    const [first, items] = await Promise.all([
      recordAt(firstKey(envelopeId)),
      queryAll(table, { index: 'by-envelope', value }),
    ]);
    const others = recordsFrom(items).filter(({ identity }) => identity !== first?.identity);
    if (first === undefined) return others;
    return [first, ...others].sort((one, other) => other.atMs - one.atMs);
  }

  async function answer<T extends object>(request: () => Promise<T>) {
    try {
      return { ok: true, ...(await request()) } as const;
    } catch (error) {
      return refusalOf(error, table);
    }
  }

  return {
    claim: (record) =>
      answer(async () => {
        const { isFirst, archiveKey } = await claim(record);
        return { isFirst, ...defined({ archiveKey }) };
      }),
    find: (record) => answer(async () => ({ record: await find(record) })),
    ofEnvelope: (envelopeId) => answer(async () => ({ records: await ofEnvelope(envelopeId) })),
    ofReplay: (replay, sinceMs = 0) =>
      answer(async () => ({
        records: recordsFrom(await queryAll(table, { index: 'by-replay', value: replay, sinceMs })),
      })),
  };
}

/** An index also contains failures. */
function recordsFrom(items: readonly Item[]): readonly EndRecord[] {
  return items.filter((item) => textOf(item, 'pk').startsWith(RECORD_PREFIX)).map(recordFromItem);
}

/**
 * Whether both ends have the same place. Their archive keys are not compared: an actor that processes an envelope again
 * after midnight reports the same end with another day, and its record must be found.
 */
function hasSamePlace(first: EndRecord, { end, actor }: NewRecord): boolean {
  // The table cuts very long texts.
  return first.end === end && first.actor === text(actor).S;
}
