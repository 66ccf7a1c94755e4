import { DeleteItemCommand, type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ListOptions, listPartitions } from '../../../lib/adapters/dynamodb/list-partitions.ts';
import { partitionsOf, SHARD_MARK, shardName, shardOf } from '../../../lib/adapters/dynamodb/shards.ts';
import { ensureTable, number, type Table, text, textOf } from '../../../lib/adapters/dynamodb/table.ts';
import { LIST_SHARDS } from '../../../lib/config/plan/failure-table.ts';
import { NOW } from '../../core/a-delivery.ts';
import { startClientOfDynamoDb } from '../../support/embedded-dynamodb.ts';

let client: DynamoDBClient;
let table: Table;
let queries = 0;
beforeAll(async () => {
  const dynamoDb = await startClientOfDynamoDb();
  client = dynamoDb.client;
  table = { client, name: 'lists' };
  await ensureTable(table);
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName === 'QueryCommand') queries++;
        return next(args);
      },
    { step: 'initialize' },
  );
  return dynamoDb.close;
});

interface Entry {
  readonly id: string;
  readonly seenMs: number;
  readonly actor: string;
  /** Written by a version that did not shard its lists. */
  readonly isOld: boolean;
}

async function put(list: string, { id, seenMs, actor, isOld }: Entry): Promise<void> {
  const shard = shardOf(id);
  const owner = isOld ? list : shardName(list, shard);
  const mark = isOld ? {} : { [SHARD_MARK]: number(shard) };
  const attributes = { owner: text(owner), ...mark, actor: text(actor), seen_ms: number(seenMs) };
  await client.send(
    new PutItemCommand({ TableName: table.name, Item: { pk: text(`item#${id}`), ...attributes } }),
  );
}

interface Filter {
  readonly actor?: string;
  readonly sinceMs?: number;
}

async function pageOf(list: string, { actor, sinceMs }: Filter, options: ListOptions) {
  const query = {
    index: 'by-owner',
    hashName: 'owner',
    partitions: partitionsOf(list),
    keyPrefix: 'item#',
    ...(actor !== undefined && { where: { actor } }),
    ...(sinceMs !== undefined && { sinceMs }),
  } as const;
  const page = await listPartitions(table, query, options);
  if (page === undefined) throw new Error('the cursor was rejected');
  return page;
}

/** The ids and times of all pages. `between` runs after each of them. */
async function listed(
  list: string,
  filter: Filter,
  options: ListOptions,
  between: () => Promise<void> = async () => {},
) {
  const found: { id: string; seenMs: number }[] = [];
  let cursor: string | undefined;
  do {
    const page = await pageOf(list, filter, { ...options, ...(cursor !== undefined && { cursor }) });
    expect(page.items.length).toBeLessThanOrEqual(options.limit);
    found.push(
      ...page.items.map((item) => ({ id: textOf(item, 'pk').slice(5), seenMs: Number(item['seen_ms']?.N) })),
    );
    cursor = page.next;
    if (cursor !== undefined) await between();
  } while (cursor !== undefined);
  return found;
}

let made = 0;
const anEntry = fc
  .record({ seenMs: fc.integer({ min: 0, max: 12 }), actor: fc.constantFrom('a', 'b'), isOld: fc.boolean() })
  .map((one) => ({ ...one, id: `i-${++made}`, seenMs: NOW + one.seenMs }));
const aFilter = fc.record(
  { actor: fc.constantFrom('a', 'b'), sinceMs: fc.integer({ min: NOW, max: NOW + 13 }) },
  { requiredKeys: [] },
);
const someOptions = fc.record(
  { limit: fc.integer({ min: 1, max: 30 }), maxRead: fc.integer({ min: 1, max: 60 }) },
  { requiredKeys: ['limit'] },
);
const matches = ({ actor = '', sinceMs = 0 }: Filter, one: Entry) =>
  (actor === '' || one.actor === actor) && one.seenMs >= sinceMs;

describe('a sharded list', () => {
  it('has every item once, newest first, whatever the pages, and while items are added', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anEntry, { maxLength: 40 }),
        fc.array(anEntry, { maxLength: 3 }),
        fc.array(anEntry, { maxLength: 3 }),
        aFilter,
        someOptions,
        async (entries, added, others, filter, options) => {
          const list = `list-${++made}`;
          await Promise.all(entries.map((one) => put(list, one)));
          // Lists whose names are those of partitions of this one, in either form.
          await Promise.all(others.map((one) => put(shardName(list, shardOf(one.id)), one)));
          const waiting = [...added];
          const found = await listed(list, filter, options, async () => {
            const next = waiting.pop();
            if (next !== undefined) await put(list, next);
          });
          const ids = found.map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          const addedIds = new Set(added.map(({ id }) => id));
          const expected = entries.filter((one) => matches(filter, one)).map(({ id }) => id);
          expect(ids.filter((id) => !addedIds.has(id)).sort()).toEqual(expected.sort());
          const times = found.map(({ seenMs }) => seenMs);
          expect(times).toEqual([...times].sort((one, other) => other - one));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('has every other item once while items are removed, also those at which a page ended', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anEntry, { minLength: 1, maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 10 }),
        aFilter,
        someOptions,
        async (entries, removals, filter, options) => {
          const list = `list-${++made}`;
          await Promise.all(entries.map((one) => put(list, one)));
          const removed = new Set<string>();
          const waiting = [...removals];
          const found = await listed(list, filter, options, async () => {
            const at = waiting.pop();
            const { id } = entries[(at ?? 0) % entries.length] as Entry;
            if (at === undefined) return;
            removed.add(id);
            const Key = { pk: text(`item#${id}`) };
            await client.send(new DeleteItemCommand({ TableName: table.name, Key }));
          });
          const ids = found.map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          const expected = entries.filter((one) => matches(filter, one)).map(({ id }) => id);
          expect(expected.filter((id) => !ids.includes(id) && !removed.has(id))).toEqual([]);
          expect(ids.filter((id) => !expected.includes(id))).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('is read with one or two queries per partition and page', async () => {
    const entries = Array.from({ length: 400 }, (_, at) => ({
      id: `bounded-${at}`,
      seenMs: NOW + at,
      actor: 'a',
      isOld: false,
    }));
    for (let at = 0; at < entries.length; at += 50)
      await Promise.all(entries.slice(at, at + 50).map((one) => put('bounded', one)));
    queries = 0;
    let pages = 0;
    await listed('bounded', {}, { limit: 50 }, async () => {
      pages++;
    });
    expect(queries / (pages + 1)).toBeLessThan(2 * (LIST_SHARDS + 1));
  });

  it('of one partition needs a few queries more, not one per item', async () => {
    for (let at = 0; at < 200; at++)
      await put('old', { id: `old-${at}`, seenMs: NOW + at, actor: 'a', isOld: true });
    queries = 0;
    expect((await pageOf('old', {}, { limit: 100 })).items).toHaveLength(100);
    expect(queries).toBeLessThan(LIST_SHARDS + 8);
  });

  it('reads about as many items as it may, and continues with the next page', async () => {
    const page = await pageOf('bounded', { actor: 'b' }, { limit: 50, maxRead: 100 });
    expect(page).toMatchObject({ items: [], next: expect.any(String), searchedToMs: expect.any(Number) });
    expect(await listed('bounded', { actor: 'b' }, { limit: 50, maxRead: 100 })).toEqual([]);
  });

  it('spreads its items evenly', () => {
    const counts = Array<number>(LIST_SHARDS).fill(0);
    for (let at = 0; at < 16_000; at++)
      counts[shardOf(`task-${at}`)] = (counts[shardOf(`task-${at}`)] ?? 0) + 1;
    expect(Math.min(...counts)).toBeGreaterThan(800);
    expect(Math.max(...counts)).toBeLessThan(1_200);
  });
});
