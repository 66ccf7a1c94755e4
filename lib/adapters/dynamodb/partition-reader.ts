import { defined } from '../../core/text/defined.ts';
import type { ItemPosition, PartitionEnd } from './merged-cursor.ts';
import { type Partition, SHARD_MARK } from './shards.ts';
import {
  type IndexQuery,
  type Item,
  number,
  numberOf,
  queryIndex,
  type Table,
  text,
  textOf,
} from './table.ts';

/** What to read from every partition of a list. */
export interface ListQuery extends Pick<IndexQuery, 'index' | 'sinceMs' | 'where' | 'startsWith'> {
  readonly partitions: readonly Partition[];
  /** Attribute with the name of the partition. */
  readonly hashName: string;
  /** All items of the list have keys that start with it. */
  readonly keyPrefix: string;
}

/** Reads one partition, newest first, a few items at a time. */
export interface PartitionReader {
  /** The newest item that was read and not taken. Undefined: read more, unless it is exhausted. */
  peek(): Item | undefined;
  take(): void;
  isExhausted(): boolean;
  /** Everything newer than this was read, in milliseconds since 1970. */
  readToMs(): number;
  /** Call it only if there is nothing to peek at. Returns how many items were read, whether they match or not. */
  read(): Promise<number>;
  end(): PartitionEnd;
}

export interface PartitionStart {
  /** Where the previous page ended in this partition. */
  readonly end: PartitionEnd;
  /** The time of the previous page's last item. */
  readonly untilMs?: number;
  /** How many items the first read asks for. Each further one asks for twice as many. */
  readonly perRead: number;
}

export function partitionReader(
  table: Table,
  query: ListQuery,
  { value, isMarked }: Partition,
  { end, untilMs = Number.POSITIVE_INFINITY, perRead }: PartitionStart,
): PartitionReader {
  const { index, sinceMs, where, startsWith, hashName, keyPrefix } = query;
  let items: readonly Item[] = [];
  /** How many of them were taken. */
  let used = 0;
  let limit = perRead;
  let isAtEnd = end === 0;
  /** Everything up to here was taken or did not match. DynamoDB rejects a start above `untilMs`, where nothing is left. */
  let taken: ItemPosition | undefined = end === 0 || end === null || end.seenMs > untilMs ? undefined : end;
  /** Everything up to here was read. */
  let readTo = taken;

  const positionOf = (key: Item): ItemPosition => ({
    id: textOf(key, 'pk').slice(keyPrefix.length),
    seenMs: numberOf(key, 'seen_ms'),
  });
  const keyAt = ({ id, seenMs }: ItemPosition): Item => ({
    pk: text(`${keyPrefix}${id}`),
    [hashName]: text(value),
    seen_ms: number(seenMs),
  });

  return {
    peek: () => items[used],
    take: () => {
      const item = items[used];
      if (item === undefined) return;
      used++;
      // What was read after it did not match.
      taken = used === items.length && !isAtEnd ? readTo : positionOf(item);
    },
    isExhausted: () => isAtEnd && used === items.length,
    readToMs: () => readTo?.seenMs ?? Number.POSITIVE_INFINITY,
    read: async () => {
      const page = await queryIndex(table, {
        index,
        value,
        limit,
        ...defined({ sinceMs, where, startsWith }),
        ...(Number.isFinite(untilMs) && { untilMs }),
        ...(isMarked !== undefined && { present: { [SHARD_MARK]: isMarked } }),
        ...(readTo !== undefined && { cursor: keyAt(readTo) }),
      });
      limit *= 2;
      items = page.items;
      used = 0;
      isAtEnd = page.next === undefined;
      if (page.next !== undefined) readTo = positionOf(page.next as Item);
      if (items.length === 0) taken = readTo;
      return page.scanned;
    },
    end: () => (isAtEnd && used === items.length ? 0 : (taken ?? null)),
  };
}
