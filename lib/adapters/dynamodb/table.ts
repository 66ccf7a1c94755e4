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
  return { ok: false, problem: `DynamoDB request failed: ${what} (table "${name}")` };
}

export function isConditionFailed(error: unknown): boolean {
  return error instanceof Error && error.name === 'ConditionalCheckFailedException';
}

/** DynamoDB's limit for an index key. It also keeps an item far below the 400 KB limit, whatever an envelope contains. */
export const MAX_TEXT_BYTES = 2_048;

/** DynamoDB rejects unpaired surrogates: an envelope with one would be redelivered forever and never be stored. */
export const text = (value: string): AttributeValue => ({
  S: headWithinUtf8(value, MAX_TEXT_BYTES).toWellFormed(),
});
/** DynamoDB rejects numbers of 1e126 and above, and an envelope may contain any number. */
export const number = (value: number): AttributeValue => ({
  N: String(Math.min(value, Number.MAX_SAFE_INTEGER)),
});

export function textOf(item: Item, name: string): string {
  return item[name]?.S ?? '';
}

export function numberOf(item: Item, name: string): number {
  return Number(item[name]?.N ?? 0);
}

/** `{ [key]: text }` if the attribute is a string, otherwise `{}`. */
export function optionalText<Key extends string>(
  item: Item,
  name: string,
  key: Key,
): { [K in Key]?: string } {
  const value = item[name]?.S;
  return defined({ [key]: value }) as { [K in Key]?: string };
}

/** A consistent read. Rejects if the request fails. */
export async function getItem({ client, name }: Table, pk: string): Promise<Item | undefined> {
  const input = { TableName: name, Key: { pk: text(pk) }, ConsistentRead: true };
  return (await client.send(new GetItemCommand(input))).Item;
}

/** False if an item with this key already exists. Rejects if the request fails. */
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
  /** Only items at this time or earlier. */
  readonly untilMs?: number;
  /** Attributes that must have these values. */
  readonly where?: Readonly<Record<string, string>>;
  /** Attributes that must start with these texts. */
  readonly startsWith?: Readonly<Record<string, string>>;
  /** Attributes that an item must have (true) or must not have (false). */
  readonly present?: Readonly<Record<string, boolean>>;
  readonly cursor?: Readonly<Record<string, unknown>>;
  /** Items per page, before conditions are applied. Default: as many as fit in 1 MB. */
  readonly limit?: number;
}

export interface ItemPage {
  readonly items: readonly Item[];
  /** How many items were read, including those that do not match the conditions. */
  readonly scanned: number;
  readonly next?: Readonly<Record<string, unknown>>;
}

/** One page of an index, newest first. Rejects if the request fails. */
export async function queryIndex(table: Table, query: IndexQuery): Promise<ItemPage> {
  const { index, value, sinceMs, untilMs, where = {}, startsWith = {}, present = {}, cursor, limit } = query;
  const range = rangeCondition(query);
  const shape = FAILURE_TABLE.indexes.find(({ name }) => name === index);
  if (shape === undefined) throw new Error(`unknown index "${index}"`);
  const equal = Object.entries(where);
  const conditions = [...equal, ...Object.entries(startsWith)];
  const presences = Object.entries(present);
  const filters = [
    ...conditions.map((_, at) => (at < equal.length ? `#f${at} = :f${at}` : `begins_with(#f${at}, :f${at})`)),
    ...presences.map(([, has], at) => `${has ? 'attribute_exists' : 'attribute_not_exists'}(#p${at})`),
  ];
  const output = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      IndexName: index,
      ScanIndexForward: false,
      ...defined({ Limit: limit }),
      KeyConditionExpression: `#hash = :hash${range === undefined ? '' : ` AND ${range}`}`,
      ...(filters.length > 0 && { FilterExpression: filters.join(' AND ') }),
      ExpressionAttributeNames: {
        '#hash': shape.hash.name,
        ...(range !== undefined && { '#range': shape.range.name }),
        ...Object.fromEntries(conditions.map(([name], at) => [`#f${at}`, name])),
        ...Object.fromEntries(presences.map(([name], at) => [`#p${at}`, name])),
      },
      ExpressionAttributeValues: {
        ':hash': text(value),
        ...(sinceMs !== undefined && { ':since': number(sinceMs) }),
        ...(untilMs !== undefined && { ':until': number(untilMs) }),
        ...Object.fromEntries(conditions.map(([, wanted], at) => [`:f${at}`, text(wanted)])),
      },
      ...(cursor !== undefined && { ExclusiveStartKey: cursor as Record<string, AttributeValue> }),
    }),
  );
  const { Items = [], ScannedCount = Items.length, LastEvaluatedKey } = output;
  return { items: Items, scanned: ScannedCount, ...defined({ next: LastEvaluatedKey }) };
}

/** DynamoDB accepts one condition for the range. */
function rangeCondition({ sinceMs, untilMs }: IndexQuery): string | undefined {
  if (sinceMs !== undefined && untilMs !== undefined) return '#range BETWEEN :since AND :until';
  if (sinceMs !== undefined) return '#range >= :since';
  return untilMs === undefined ? undefined : '#range <= :until';
}

/** The items of all pages. */
export async function queryAll(table: Table, query: Omit<IndexQuery, 'cursor'>): Promise<readonly Item[]> {
  const items: Item[] = [];
  let page = await queryIndex(table, query);
  items.push(...page.items);
  while (page.next !== undefined) {
    page = await queryIndex(table, { ...query, cursor: page.next });
    items.push(...page.items);
  }
  return items;
}

/** Creates the table if it is missing, for embedded engines. On AWS the infrastructure creates it. */
export async function ensureTable(table: Table): Promise<void> {
  const existing = await describeTable(table);
  if (existing === undefined) await createTable(table);
  else rejectOlderTable(table.name, existing.GlobalSecondaryIndexes ?? []);
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

/** `CreateTable` returns before the table is ACTIVE; until then writes fail with ResourceNotFoundException. */
async function waitUntilActive(table: Table): Promise<void> {
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    if ((await describeTable(table))?.TableStatus === 'ACTIVE') return;
    await pause(POLL_MS);
  }
  throw new Error(
    `the table "${table.name}" is not ready after ${(MAX_POLLS * POLL_MS) / 1000} s; start once with --fresh, which deletes the stored data`,
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

/** Embedded engines accept a request to add an index, but do not add it. */
function rejectOlderTable(
  name: string,
  existing: readonly { readonly IndexName?: string | undefined }[],
): void {
  const known = new Set(existing.map(({ IndexName }) => IndexName));
  const missing = FAILURE_TABLE.indexes.map((index) => index.name).filter((index) => !known.has(index));
  if (missing.length === 0) return;
  throw new Error(
    `the table "${name}" was created by an earlier version and lacks the index ${missing.map((index) => `"${index}"`).join(', ')}; start once with --fresh, which deletes the stored data`,
  );
}
