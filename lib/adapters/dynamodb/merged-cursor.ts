import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Where a page ends in one partition: `null` at its start, `0` at its end, otherwise after the item with this key. */
export type PartitionEnd = null | 0 | ItemPosition;

export interface ItemPosition {
  /** The key of the item in the table, without the prefix that all items of the list have. */
  readonly id: string;
  readonly seenMs: number;
}

/** Far above what all partitions need. A client could send anything. */
const MAX_BYTES = 100_000;

/** Where a page of a list ends. */
export interface PageEnd {
  readonly ends: readonly PartitionEnd[];
  /** The time of the last item. Newer items that were added since do not belong to the pages that follow. */
  readonly untilMs?: number;
}

/** The end of a page as text for the client. It does not name the list: a cursor gives no access to another one. */
export function textFromPageEnd({ ends, untilMs }: PageEnd): string {
  const entries = ends.map((end) => (end === null || end === 0 ? end : [end.id, end.seenMs]));
  return deflateRawSync(JSON.stringify([untilMs ?? null, ...entries])).toString('base64url');
}

/** Undefined if the text is not a cursor of a list with this many partitions. */
export function pageEndFromText(cursor: string, partitions: number): PageEnd | undefined {
  try {
    const bytes = inflateRawSync(Buffer.from(cursor, 'base64url'), { maxOutputLength: MAX_BYTES });
    const parsed: unknown = JSON.parse(bytes.toString('utf8'));
    if (!Array.isArray(parsed) || parsed.length !== partitions + 1) return undefined;
    const [untilMs, ...entries]: unknown[] = parsed;
    const ends = entries.map(endFrom);
    if (ends.includes(undefined) || (untilMs !== null && !Number.isSafeInteger(untilMs))) return undefined;
    return { ends: ends as PartitionEnd[], ...(untilMs !== null && { untilMs: Number(untilMs) }) };
  } catch {
    return undefined;
  }
}

function endFrom(entry: unknown): PartitionEnd | undefined {
  if (entry === null || entry === 0) return entry;
  const [id, seenMs]: unknown[] = Array.isArray(entry) ? entry : [];
  if (typeof id !== 'string' || !Number.isSafeInteger(seenMs)) return undefined;
  return { id, seenMs: seenMs as number };
}
