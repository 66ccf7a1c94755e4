import { type Fields, isFields } from '../text/fields.ts';
import type { DeriveId } from './decode.ts';
import type { Envelope, Status } from './envelope.ts';

/**
 * One fan-out on the route of an envelope, as `status.fan_out` lists it. With the ids of the children, which are derived,
 * it makes the whole tree known: without it, nobody could tell a child that has not ended from one that never existed.
 */
export interface FanOut {
  /** The actor whose handler returned the items. */
  readonly actor: string;
  /** The number of actors that the envelope had passed before. */
  readonly hop: number;
  /** How many items there were. Item 0 keeps the id of the envelope, each other item is a child. */
  readonly items: number;
}

/** The id of a fan-out child. It is the same on every redelivery, so that a repeated delivery creates no new children. */
export function childId(
  parentId: string,
  { actor, hop }: Pick<FanOut, 'actor' | 'hop'>,
  index: number,
  deriveId: DeriveId,
): string {
  return deriveId('fan-out', parentId, actor, hop, index);
}

/** The status of item 0, which continues as the envelope that was fanned out. */
export function withFanOut(status: Status, fanOut: FanOut): Status {
  return { ...status, fan_out: [...listOf(status), fanOut] };
}

/** The status of a child: the fan-outs so far are those of its parent. */
export function withoutFanOuts({ fan_out: _parents, ...status }: Status): Status {
  return status;
}

/** The fan-outs of an envelope, earliest first. Entries that cannot be read are left out. */
export function fanOutsOf({ status }: Envelope): readonly FanOut[] {
  return listOf(status ?? {}).filter(isFanOut);
}

/** The ids of all children of an envelope, in the order in which they were created. */
export function childIdsOf(envelope: Envelope, deriveId: DeriveId): readonly string[] {
  return childIdsFrom(envelope.id, fanOutsOf(envelope), deriveId);
}

/** The ids of the children that these fan-outs of an envelope created. */
export function childIdsFrom(id: string, fanOuts: readonly FanOut[], deriveId: DeriveId): readonly string[] {
  return fanOuts.flatMap((fanOut) =>
    Array.from({ length: Math.max(0, fanOut.items - 1) }, (_, at) => childId(id, fanOut, at + 1, deriveId)),
  );
}

function listOf({ fan_out }: Status): readonly unknown[] {
  return Array.isArray(fan_out) ? fan_out : [];
}

/** A status may come from another writer: no number of items may exhaust the memory of a reader. */
const MAX_ITEMS = 1_000_000;

function isFanOut(value: unknown): value is FanOut {
  if (!isFields(value)) return false;
  const { actor, hop, items }: Fields = value;
  return (
    typeof actor === 'string' &&
    Number.isSafeInteger(hop) &&
    Number.isSafeInteger(items) &&
    Number(items) <= MAX_ITEMS
  );
}
