import type { DeriveId } from '../envelope/decode.ts';
import { type End, endActorOf, endOf } from '../envelope/end.ts';
import type { Envelope } from '../envelope/envelope.ts';
import type { FanOut } from '../envelope/fan-out.ts';
import { FLOW, headerText, REPLAY, TASK } from '../envelope/headers.ts';
import { hopOf } from '../envelope/route.ts';
import { defined } from '../text/defined.ts';
import { instantMs, timestampText } from '../text/timestamp.ts';
import { keyInBatch } from './archive-batch.ts';

/**
 * The end record of an envelope. A redelivery has the same record. An envelope that fails again after a replay has
 * another one.
 */
export interface EndRecord {
  /** Derived from envelope id, end, actor, hop and replay. */
  readonly identity: string;
  readonly envelopeId: string;
  readonly end: End;
  /** The actor at which the envelope ended. */
  readonly actor: string;
  readonly hop: number;
  /** The number of attempts at that actor. Records of earlier versions have none. */
  readonly attempts?: number;
  readonly reason: string;
  readonly flow?: string;
  /** The task at the gateway, if any. */
  readonly task?: string;
  /** The envelope that a fan-out created this one from, if any. */
  readonly parentId?: string;
  /** The replay that sent the envelope, if any. */
  readonly replay?: string;
  readonly atMs: number;
  /** The key of the whole envelope in the archive, on its own or in a batch. Undefined: it is not archived. */
  readonly archiveKey?: string;
  /** The fan-outs of an envelope that is not archived, because nothing else shows its children. */
  readonly fanOuts?: readonly FanOut[];
}

/** The crew records an end before it archives the envelope. After this time, the archive will not get it any more. */
export const ARCHIVED_WITHIN_MS = 300_000;

/** A record that is not stored yet. */
export interface NewRecord extends EndRecord {
  /** The same for all records that would have the same archive key. The first one that is stored gets the key. */
  readonly place: string;
  /** The archive key for the other records, which ended at other hops. Undefined: the envelope is not archived. */
  readonly alternativeKey?: string;
}

/** A new record of an envelope that is archived. */
export type ArchivedRecord = NewRecord & Required<Pick<NewRecord, 'archiveKey' | 'alternativeKey'>>;

export function recordOf(envelope: Envelope, now: number, deriveId: DeriveId): ArchivedRecord {
  const { id, parent_id: parentId, route, status, headers } = envelope;
  const end = endOf(envelope);
  const actor = endActorOf(envelope);
  const hop = hopOf(route);
  const replay = headerText(headers, REPLAY) || undefined;
  const atMs = instantMs(status?.updated_at) ?? now;
  const folder = end === 'failed' && status?.reason === 'DeliveryExhausted' ? 'dlq' : end;
  const stem = `${folder}/${timestampText(atMs).slice(0, 10)}/${safeName(actor, deriveId)}/${safeName(id, deriveId)}`;
  // `=` and `@` do not occur in a safe name, so no two records have the same key.
  const replayed = replay === undefined ? '' : `=${safeName(replay, deriveId)}`;
  return {
    identity: deriveId('record', id, end, actor, hop, replay ?? ''),
    envelopeId: id,
    end,
    actor,
    hop,
    attempts: status?.attempt ?? 1,
    reason: typeof status?.reason === 'string' ? status.reason : '',
    ...defined({
      flow: headerText(headers, FLOW) || undefined,
      task: headerText(headers, TASK) || undefined,
      parentId,
      replay,
    }),
    atMs,
    archiveKey: `${stem}${replayed}.json`,
    place: deriveId('place', id, end, actor, replay ?? ''),
    alternativeKey: `${stem}@${hop}${replayed}.json`,
  };
}

/** The record of an envelope that is not archived. */
export function withoutArchive(
  { archiveKey: _key, alternativeKey: _other, ...record }: ArchivedRecord,
  fanOuts: readonly FanOut[],
): NewRecord {
  return fanOuts.length === 0 ? record : { ...record, fanOuts };
}

/** The record of an envelope in a batch. */
export function inBatch(record: ArchivedRecord, batch: string): ArchivedRecord {
  const { archiveKey, alternativeKey } = record;
  return {
    ...record,
    archiveKey: keyInBatch(batch, archiveKey),
    alternativeKey: keyInBatch(batch, alternativeKey),
  };
}

const MAX_NAME = 200;
/** An empty name, or one that is special in a path (`.` and `..`). */
const ONLY_DOTS = /^\.*$/;

/** A part of an archive key: URL-encoded, or hashed if that is not possible or too long. */
export function safeName(text: string, deriveId: DeriveId): string {
  const escaped = text.isWellFormed() ? encodeURIComponent(text) : '';
  const isSafe = escaped.length <= MAX_NAME && !ONLY_DOTS.test(escaped);
  return isSafe ? escaped : deriveId('name', text);
}
