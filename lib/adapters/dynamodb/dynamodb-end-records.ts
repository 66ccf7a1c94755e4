import type { DeriveId } from '../../core/envelope/decode.ts';
import type { End } from '../../core/envelope/end.ts';
import type { EndRecord } from '../../core/failure/record.ts';
import type { EndRecords } from '../../ports/end-records.ts';
import { inboxOf } from './ends-inbox.ts';
import { envelopeAttributes, envelopeKey } from './envelope-id.ts';
import {
  getItem,
  type IndexQuery,
  type Item,
  number,
  numberOf,
  optionalText,
  putNew,
  queryAll,
  refusalOf,
  type Table,
  text,
  textOf,
} from './table.ts';

/** Longer than any broker retains a message that could report the same end again. */
const RETENTION_SECONDS = 45 * 86_400;

export function dynamoDbEndRecords(table: Table, deriveId: DeriveId): EndRecords {
  async function recordAt(place: string): Promise<EndRecord | undefined> {
    const item = await getItem(table, keyOf(place));
    return item === undefined ? undefined : recordFromItem(item);
  }

  /** Stores the record unless there is one already, and returns the one that is stored. */
  async function putFirst(
    place: string,
    record: EndRecord,
  ): Promise<EndRecord & { readonly isFirst: boolean }> {
    if (await putNew(table, itemOf(place, record, deriveId))) return { ...record, isFirst: true };
    return { ...((await recordAt(place)) ?? record), isFirst: false };
  }

  async function recordsOf(query: Omit<IndexQuery, 'cursor'>) {
    try {
      const items = await queryAll(table, query);
      const records = items
        .filter((item) => textOf(item, 'pk').startsWith(RECORD_PREFIX))
        .map(recordFromItem);
      return { ok: true, records } as const;
    } catch (error) {
      return refusalOf(error, table);
    }
  }

  return {
    claim: async (record) => {
      const { identity, place, alternativeKey } = record;
      try {
        const first = await putFirst(place, record);
        const { isFirst, archiveKey } =
          first.identity === identity
            ? first
            : await putFirst(identity, { ...record, archiveKey: alternativeKey });
        return { ok: true, isFirst, archiveKey };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    find: async ({ identity, place }) => {
      try {
        const first = await recordAt(place);
        return { ok: true, record: first?.identity === identity ? first : await recordAt(identity) };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    ofEnvelope: (envelopeId) => recordsOf({ index: 'by-envelope', value: envelopeKey(envelopeId, deriveId) }),
    ofReplay: (replay, sinceMs = 0) => recordsOf({ index: 'by-replay', value: replay, sinceMs }),
  };
}

/** Key prefix of end records. */
export const RECORD_PREFIX = 'record#';

function keyOf(place: string): string {
  return `${RECORD_PREFIX}${place}`;
}

function itemOf(place: string, record: EndRecord, deriveId: DeriveId): Item {
  const { identity, envelopeId, end, actor, hop, attempts, reason, atMs, archiveKey } = record;
  const { flow, task, parentId, replay } = record;
  return {
    pk: text(keyOf(place)),
    inbox: text(inboxOf(identity)),
    identity: text(identity),
    ...envelopeAttributes(envelopeId, deriveId),
    end: text(end),
    actor: text(actor),
    hop: number(hop),
    ...(attempts !== undefined && { attempts: number(attempts) }),
    reason: text(reason),
    ...(flow !== undefined && { flow: text(flow) }),
    ...(task !== undefined && { task: text(task) }),
    ...(parentId !== undefined && { parent_id: text(parentId) }),
    ...(replay !== undefined && { replay: text(replay) }),
    seen_ms: number(atMs),
    archive_key: text(archiveKey),
    expires_at: number(Math.ceil(atMs / 1000) + RETENTION_SECONDS),
  };
}

export function recordFromItem(item: Item): EndRecord {
  return {
    identity: textOf(item, 'identity'),
    envelopeId: textOf(item, 'envelope_id'),
    end: textOf(item, 'end') as End,
    actor: textOf(item, 'actor'),
    hop: numberOf(item, 'hop'),
    ...(item['attempts'] !== undefined && { attempts: numberOf(item, 'attempts') }),
    reason: textOf(item, 'reason'),
    ...optionalText(item, 'flow', 'flow'),
    ...optionalText(item, 'task', 'task'),
    ...optionalText(item, 'parent_id', 'parentId'),
    ...optionalText(item, 'replay', 'replay'),
    atMs: numberOf(item, 'seen_ms'),
    archiveKey: textOf(item, 'archive_key'),
  };
}
