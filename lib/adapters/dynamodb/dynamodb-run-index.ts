import { defined } from '../../core/text/defined.ts';
import type { Refusal } from '../../ports/reply.ts';
import type { RunFilter, RunIndex, RunPage } from '../../ports/run-index.ts';
import { recordFromItem } from './end-record-item.ts';
import { END_SHARDS, endsInbox } from './ends-inbox.ts';
import { type Item, number, numberOf, queryIndex, refusalOf, type Table, text, textOf } from './table.ts';

type Key = Readonly<Record<string, unknown>>;

/** One partition of the index. All of them together are read like one sorted list. */
interface Shard {
  readonly inbox: string;
  /** What was read and not yet returned, newest first. */
  buffer: Item[];
  /** Everything down to this position was returned or did not match. Undefined: nothing was read. */
  position?: Key;
  /** Where the next query starts. */
  next?: Key;
  /** No more items after those in the buffer. */
  isExhausted: boolean;
}

/** Items per query without a filter: a page needs about an eighth of its ends from each partition. */
const MIN_ITEMS_PER_QUERY = 5;

/** Reads the end records by time, from the index that the failures also use, in partitions of their own. */
export function dynamoDbRunIndex(table: Table): RunIndex {
  /** Reads until the partition has a matching item or is exhausted, or the number of reads is used up. */
  async function fill(shard: Shard, filter: RunFilter, perQuery: number): Promise<number> {
    const { sinceMs, idPrefix, end, actor, reason, flow } = filter;
    const page = await queryIndex(table, {
      index: 'by-time',
      value: shard.inbox,
      where: defined({ end, actor, reason, flow }) as Record<string, string>,
      ...(idPrefix !== undefined && { startsWith: { envelope_id: idPrefix } }),
      ...(Number.isFinite(perQuery) && { limit: perQuery }),
      ...defined({ sinceMs, cursor: shard.next }),
    });
    // Only called with an empty buffer: all that was read before is behind the position.
    if (shard.next !== undefined) shard.position = shard.next;
    shard.buffer = [...page.items];
    if (page.next === undefined) {
      shard.isExhausted = true;
      delete shard.next;
    } else shard.next = page.next;
    if (shard.buffer.length === 0 && page.next !== undefined) shard.position = page.next;
    return page.scanned;
  }

  async function list(
    filter: RunFilter,
    { limit, maxRead = Number.POSITIVE_INFINITY, cursor }: Parameters<RunIndex['list']>[1],
  ): Promise<RunPage | Refusal> {
    const shards = shardsFrom(cursor);
    if (shards === undefined) return { ok: false, problem: 'the cursor is not valid' };
    const { sinceMs: _since, ...conditions } = filter;
    // With conditions, most of what is read may not match.
    const wanted = Object.keys(conditions).length > 0 ? maxRead : Math.min(2 * limit, maxRead);
    const perQuery = Math.max(MIN_ITEMS_PER_QUERY, Math.ceil(wanted / END_SHARDS));
    const taken: Item[] = [];
    let read = 0;
    while (taken.length < limit) {
      const waiting = shards.filter(({ buffer, isExhausted }) => buffer.length === 0 && !isExhausted);
      if (waiting.length > 0) {
        if (read >= maxRead) {
          const frontierMs = frontierOf(waiting);
          takeNewest(shards, taken, limit, frontierMs);
          return page(taken, shards, frontierMs);
        }
        const counts = await Promise.all(waiting.map((shard) => fill(shard, filter, perQuery)));
        read += counts.reduce((sum, count) => sum + count, 0);
        continue;
      }
      if (!takeNewest(shards, taken, taken.length + 1)) break;
    }
    return page(taken, shards);
  }

  return {
    list: async (filter, options) => {
      try {
        return await list(filter, options);
      } catch (error) {
        return refusalOf(error, table);
      }
    },
  };
}

function page(taken: readonly Item[], shards: readonly Shard[], searchedToMs?: number): RunPage {
  const hasMore = shards.some(({ buffer, isExhausted }) => buffer.length > 0 || !isExhausted);
  return {
    ok: true,
    records: taken.map(recordFromItem),
    ...(hasMore && { next: textFromShards(shards) }),
    ...defined({ searchedToMs }),
  };
}

/** Takes the newest items out of the buffers, up to a number of items. False if there was none. */
function takeNewest(shards: readonly Shard[], taken: Item[], limit: number, fromMs = 0): boolean {
  const before = taken.length;
  while (taken.length < limit) {
    const newest = newestOf(shards);
    const [item] = newest?.buffer ?? [];
    if (newest === undefined || item === undefined || numberOf(item, 'seen_ms') < fromMs) break;
    newest.buffer.shift();
    newest.position = keyOf(item);
    taken.push(item);
  }
  return taken.length > before;
}

/** The partition with the newest item in its buffer. */
function newestOf(shards: readonly Shard[]): Shard | undefined {
  const timeOf = ({ buffer: [first] }: Shard) => (first === undefined ? -1 : numberOf(first, 'seen_ms'));
  return shards.reduce<Shard | undefined>(
    (newest, shard) => (timeOf(shard) > (newest === undefined ? -1 : timeOf(newest)) ? shard : newest),
    undefined,
  );
}

/** Everything newer than this was read: the latest of the times at which partitions stopped. */
function frontierOf(waiting: readonly Shard[]): number {
  return Math.max(...waiting.map(({ next }) => numberOf((next ?? {}) as Item, 'seen_ms')));
}

function keyOf(item: Item): Key {
  const { pk, inbox, seen_ms } = item;
  return defined({ pk, inbox, seen_ms });
}

/** `null`: nothing was read. `0`: exhausted. Otherwise the key after which the partition continues. */
type ShardCursor = null | 0 | readonly [pk: string, seenMs: number];

function textFromShards(shards: readonly Shard[]): string {
  const cursors = shards.map(({ buffer, isExhausted, position }): ShardCursor => {
    if (buffer.length === 0 && isExhausted) return 0;
    if (position === undefined) return null;
    const item = position as Item;
    return [textOf(item, 'pk'), numberOf(item, 'seen_ms')];
  });
  return Buffer.from(JSON.stringify(cursors)).toString('base64url');
}

/** Undefined if the text is not a cursor of `textFromShards`. */
function shardsFrom(cursor: string | undefined): Shard[] | undefined {
  const cursors = cursor === undefined ? Array<null>(END_SHARDS).fill(null) : parsed(cursor);
  if (!Array.isArray(cursors) || cursors.length !== END_SHARDS) return undefined;
  const shards = cursors.map((one: unknown, shard): Shard | undefined => {
    const inbox = endsInbox(shard);
    if (one === null || one === 0) return { inbox, buffer: [], isExhausted: one === 0 };
    if (!Array.isArray(one) || typeof one[0] !== 'string' || !Number.isSafeInteger(one[1])) return undefined;
    const position = { pk: text(one[0]), inbox: text(inbox), seen_ms: number(one[1] as number) };
    return { inbox, buffer: [], position, next: position, isExhausted: false };
  });
  return shards.includes(undefined) ? undefined : (shards as Shard[]);
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
