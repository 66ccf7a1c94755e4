import { defined } from '../../core/text/defined.ts';
import type { Refusal } from '../../ports/reply.ts';
import { pageEndFromText, textFromPageEnd } from './merged-cursor.ts';
import { type ListQuery, type PartitionReader, partitionReader } from './partition-reader.ts';
import { type Item, numberOf, type Table } from './table.ts';

export interface ListPage {
  readonly items: readonly Item[];
  /** The cursor of the next page. Undefined on the last page. */
  readonly next?: string;
  /** Set if reading stopped at `maxRead`: every match newer than this was found, in milliseconds since 1970. */
  readonly searchedToMs?: number;
}

export interface ListOptions {
  /** The most items that a page contains. It may contain fewer and still not be the last one. */
  readonly limit: number;
  /** Stop after reading about this many items, whether they match or not. */
  readonly maxRead?: number;
  /** End the page when its items have about this many bytes. Default: no limit. */
  readonly maxBytes?: number;
  readonly cursor?: string;
}

export const INVALID_CURSOR: Refusal = { ok: false, problem: 'the cursor is not valid' };

/** As many as a page of DynamoDB has. */
export const PAGE_BYTES = 1_000_000;
const MIN_ITEMS_PER_READ = 5;
/** Partitions are never equally full: with twice what the page needs, most of them are read once. */
const SLACK = 2;

/**
 * One page of all partitions together, newest first. Resolves with undefined if the cursor is not valid. Rejects if a
 * request fails.
 */
export async function listPartitions(
  table: Table,
  query: ListQuery,
  { limit, maxRead = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY, cursor }: ListOptions,
): Promise<ListPage | undefined> {
  const { partitions, where = {}, startsWith = {} } = query;
  const start =
    cursor === undefined ? { ends: partitions.map(() => null) } : pageEndFromText(cursor, partitions.length);
  if (start === undefined) return undefined;
  // With conditions, most of what is read may not match.
  const hasConditions = Object.keys({ ...where, ...startsWith }).length > 0;
  const wanted = hasConditions && Number.isFinite(maxRead) ? maxRead : Math.min(SLACK * limit, maxRead);
  const perRead = Math.max(MIN_ITEMS_PER_READ, Math.ceil(wanted / partitions.length));
  const readers = partitions.map((partition, at) =>
    partitionReader(table, query, partition, { ...start, end: start.ends[at] ?? null, perRead }),
  );

  const items: Item[] = [];
  let bytes = 0;
  let read = 0;
  let searchedToMs: number | undefined;
  while (items.length < limit && bytes < maxBytes) {
    const empty = readers.filter((one) => one.peek() === undefined && !one.isExhausted());
    if (empty.length > 0 && read < maxRead) {
      const counts = await Promise.all(empty.map((one) => one.read()));
      read += counts.reduce((sum, count) => sum + count, 0);
      continue;
    }
    if (empty.length > 0) searchedToMs = Math.max(...empty.map((one) => one.readToMs()));
    const newest = newestOf(readers);
    const item = newest?.peek();
    if (item === undefined || numberOf(item, 'seen_ms') < (searchedToMs ?? Number.NEGATIVE_INFINITY)) break;
    newest?.take();
    items.push(item);
    bytes += JSON.stringify(item).length;
  }
  const hasMore = readers.some((one) => !one.isExhausted());
  const last = items.at(-1);
  const untilMs = last === undefined ? start.untilMs : numberOf(last, 'seen_ms');
  return {
    items,
    ...(hasMore && {
      next: textFromPageEnd({ ends: readers.map((one) => one.end()), ...defined({ untilMs }) }),
    }),
    ...defined({ searchedToMs }),
  };
}

/** The reader with the newest item to take. */
function newestOf(readers: readonly PartitionReader[]): PartitionReader | undefined {
  const timeOf = (one: PartitionReader | undefined) => {
    const item = one?.peek();
    return item === undefined ? Number.NEGATIVE_INFINITY : numberOf(item, 'seen_ms');
  };
  return readers.reduce<PartitionReader | undefined>(
    (newest, one) => (timeOf(one) > timeOf(newest) ? one : newest),
    undefined,
  );
}
