import { setTimeout as pause } from 'node:timers/promises';
import {
  type AttributeValue,
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  type GlobalSecondaryIndex,
  PutItemCommand,
  QueryCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { FAILURE_TABLE, type FailureTableIndex, type TableIndex } from '../../config/plan/failure-table.ts';
import { defined } from '../../core/text/defined.ts';
import { headWithinUtf8 } from '../../core/text/utf8.ts';
import type { Refusal } from '../../ports/reply.ts';

/** A table, and the client that reaches it. */
export interface Table {
  readonly client: DynamoDBClient;
  readonly name: string;
}

export type Item = Readonly<Record<string, AttributeValue>>;

export function refusalOf(error: unknown, { name }: Table): Refusal {
  const what = String(error);
  return { ok: false, problem: `the table does not answer as it should: ${what} (table "${name}")` };
}

export function isConditionFailed(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException';
}

/** What an index takes as a key, and what leaves an item far below its 400 KB whatever an envelope holds. */
export const MAX_TEXT_BYTES = 2_048;

/** Half a pair of surrogates is refused by the table: such a text would be delivered for ever and never noted. */
export const text = (value: string): AttributeValue => ({
  S: headWithinUtf8(value, MAX_TEXT_BYTES).toWellFormed(),
});
/** The table takes no number above 1e126, and an envelope may say anything. */
export const number = (value: number): AttributeValue => ({
  N: String(Math.min(value, Number.MAX_SAFE_INTEGER)),
});

export function textOf(item: Item, name: string): string {
  return item[name]?.S ?? '';
}

export function numberOf(item: Item, name: string): number {
  return Number(item[name]?.N ?? 0);
}

/** The key where the attribute is there and is a text. */
export function optionalText<Key extends string>(
  item: Item,
  name: string,
  key: Key,
): { [K in Key]?: string } {
  const value = item[name]?.S;
  return defined({ [key]: value }) as { [K in Key]?: string };
}

/** As it was last written. Rejects where the table does not answer. */
export async function getItem({ client, name }: Table, pk: string): Promise<Item | undefined> {
  const question = { TableName: name, Key: { pk: text(pk) }, ConsistentRead: true };
  return (await client.send(new GetItemCommand(question))).Item;
}

/** False where its key has an item already. Rejects where the table does not answer. */
export async function putNew({ client, name }: Table, item: Item): Promise<boolean> {
  const ConditionExpression = 'attribute_not_exists(pk)';
  try {
    await client.send(new PutItemCommand({ TableName: name, Item: item, ConditionExpression }));
    return true;
  } catch (error) {
    if (isConditionFailed(error)) return false;
    throw error;
  }
}

export interface IndexQuery {
  readonly index: FailureTableIndex;
  readonly value: string;
  readonly sinceMs?: number;
  /** Attributes that must have these values. */
  readonly where?: Readonly<Record<string, string>>;
  readonly cursor?: Readonly<Record<string, unknown>>;
  /** Items of a page at the most; as many as fit without. */
  readonly limit?: number;
}

export interface ItemPage {
  readonly items: readonly Item[];
  readonly next?: Readonly<Record<string, unknown>>;
}

/** One page of an index, newest first. Rejects where the table does not answer. */
export async function queryIndex(table: Table, ask: IndexQuery): Promise<ItemPage> {
  const { index, value, sinceMs, where = {}, cursor, limit: most } = ask;
  const shape = FAILURE_TABLE.indexes.find(({ name }) => name === index);
  if (shape === undefined) throw new Error(`there is no index "${index}"`);
  const conditions = Object.entries(where);
  const output = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      IndexName: index,
      ScanIndexForward: false,
      ...defined({ Limit: most }),
      KeyConditionExpression: `#hash = :hash${sinceMs === undefined ? '' : ' AND #range >= :since'}`,
      ...(conditions.length === 0
        ? {}
        : { FilterExpression: conditions.map((_, at) => `#f${at} = :f${at}`).join(' AND ') }),
      ExpressionAttributeNames: {
        '#hash': shape.hash.name,
        ...(sinceMs !== undefined && { '#range': shape.range.name }),
        ...Object.fromEntries(conditions.map(([name], at) => [`#f${at}`, name])),
      },
      ExpressionAttributeValues: {
        ':hash': text(value),
        ...(sinceMs !== undefined && { ':since': number(sinceMs) }),
        ...Object.fromEntries(conditions.map(([, wanted], at) => [`:f${at}`, text(wanted)])),
      },
      ...(cursor !== undefined && { ExclusiveStartKey: cursor as Record<string, AttributeValue> }),
    }),
  );
  const { Items = [], LastEvaluatedKey } = output;
  return { items: Items, ...defined({ next: LastEvaluatedKey }) };
}

/** Every page of it. */
export async function queryAll(table: Table, ask: Omit<IndexQuery, 'cursor'>): Promise<readonly Item[]> {
  const items: Item[] = [];
  let page = await queryIndex(table, ask);
  items.push(...page.items);
  while (page.next !== undefined) {
    page = await queryIndex(table, { ...ask, cursor: page.next });
    items.push(...page.items);
  }
  return items;
}

/** Makes the table where it is missing: for engines on this machine. On AWS the infrastructure makes it. */
export async function ensureTable(table: Table): Promise<void> {
  const there = await describeTable(table);
  if (there === undefined) await createTable(table);
  else rejectOlderTable(table.name, there.GlobalSecondaryIndexes ?? []);
  await waitUntilActive(table);
}

async function describeTable({ client, name }: Table): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table;
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

const MAX_POLLS = 500;
const POLL_MS = 20;

/** A table is answered for before it is there, and whoever writes meanwhile is told that there is none. */
async function waitUntilActive(table: Table): Promise<void> {
  for (let looks = 0; looks < MAX_POLLS; looks++) {
    if ((await describeTable(table))?.TableStatus === 'ACTIVE') return;
    await pause(POLL_MS);
  }
  throw new Error(
    `the table "${table.name}" is not ready after ${(MAX_POLLS * POLL_MS) / 1000} s; start once with --fresh, which forgets what was kept`,
  );
}

async function createTable({ client, name }: Table): Promise<void> {
  const { key, indexes } = FAILURE_TABLE;
  const attributes = new Map(
    [key, ...indexes.flatMap(({ hash, range }) => [hash, range])].map((one) => [one.name, one]),
  );
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [...attributes.values()].map((one) => ({
        AttributeName: one.name,
        AttributeType: one.type,
      })),
      KeySchema: [{ AttributeName: key.name, KeyType: 'HASH' }],
      GlobalSecondaryIndexes: indexes.map(indexInput),
    }),
  );
}

function indexInput({ name, hash, range }: TableIndex): GlobalSecondaryIndex {
  return {
    IndexName: name,
    KeySchema: [
      { AttributeName: hash.name, KeyType: 'HASH' },
      { AttributeName: range.name, KeyType: 'RANGE' },
    ],
    Projection: { ProjectionType: 'ALL' },
  };
}

/** An index cannot be added by embedded engines: they take it, and do nothing. */
function rejectOlderTable(name: string, there: readonly { readonly IndexName?: string | undefined }[]): void {
  const known = new Set(there.map(({ IndexName }) => IndexName));
  const missing = FAILURE_TABLE.indexes.map((index) => index.name).filter((index) => !known.has(index));
  if (missing.length === 0) return;
  throw new Error(
    `the table "${name}" was made by an earlier version and has no index ${missing.map((index) => `"${index}"`).join(', ')}; start once with --fresh, which forgets what was kept`,
  );
}
