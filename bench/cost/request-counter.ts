import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { PricedUnit } from '../../lib/config/scaling/prices.ts';
import { type Answered, onAnswered } from './count-requests.ts';
import { type ApiItem, writeUnits } from './write-units.ts';

/** What was requested between two calls of `take`. */
export interface Counted {
  /** By service and operation, e.g. `SQS SendMessageBatch`. */
  readonly requests: ReadonlyMap<string, number>;
  /** What is billed. */
  readonly units: ReadonlyMap<PricedUnit, number>;
  /** Items written and read in DynamoDB: a batch counts as many. */
  readonly writes: number;
  readonly reads: number;
}

export interface RequestCounter {
  /** The requests since the last call. */
  take(): Promise<Counted>;
  /** Counts an invocation of a function. */
  invoked(functionName: string): void;
  close(): void;
}

/** A poll that returned no messages has an answer of this size at most. */
const EMPTY_ANSWER_BYTES = 40;
const SQS_CHUNK_BYTES = 64 * 1024;
const READ_UNIT_BYTES = 4 * 1024;

/** Counts the requests to the servers of this process, and what AWS would bill for them. */
export function requestCounter(gatewayUrl: string, client: DynamoDBClient): RequestCounter {
  let requests = new Map<string, number>();
  let units = new Map<PricedUnit, number>();
  let writes = 0;
  let reads = 0;
  let lookups: Promise<void>[] = [];
  const items = new Map<string, ApiItem | undefined>();

  const bump = <Key>(counts: Map<Key, number>, key: Key, by = 1) =>
    counts.set(key, (counts.get(key) ?? 0) + by);

  function written(key: string, after: ApiItem | undefined): void {
    const { table, indexes } = writeUnits(items.get(key), after);
    items.set(key, after);
    bump(units, 'dynamodbWrites', table + indexes);
  }

  async function lookUp(table: string, key: ApiItem): Promise<void> {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: table, Key: key as never, ConsistentRead: true }),
    );
    written(keyOf(key), encoded(Item));
  }

  function countDynamoDb({ operation, status, body, answerBytes }: Answered): void {
    const input = JSON.parse(body) as DynamoDbInput;
    const { TableName = '', Key = {}, Item = {}, RequestItems, TransactItems } = input;
    const isRefused = status >= 400;
    const put = (item: ApiItem) => {
      writes++;
      // A failed condition is billed like a write of the table.
      if (isRefused) bump(units, 'dynamodbWrites');
      else written(keyOf(item), item);
    };
    const change = (table: string, key: ApiItem) => {
      writes++;
      if (isRefused) bump(units, 'dynamodbWrites');
      else lookups.push(lookUp(table, key));
    };
    const read = (count: number, isConsistent: boolean) => {
      reads += count;
      const chunks = Math.max(count, Math.ceil(answerBytes / READ_UNIT_BYTES));
      bump(units, 'dynamodbReads', chunks * (isConsistent ? 1 : 0.5));
    };
    if (operation === 'PutItem') put(Item);
    else if (operation === 'UpdateItem' || operation === 'DeleteItem') change(TableName, Key);
    else if (operation === 'BatchWriteItem') {
      for (const [table, entries] of Object.entries(RequestItems ?? {}))
        for (const { PutRequest, DeleteRequest } of entries as BatchEntry[])
          PutRequest === undefined ? change(table, DeleteRequest?.Key ?? {}) : put(PutRequest.Item);
    } else if (operation === 'TransactWriteItems') {
      // A transaction is billed twice.
      bump(units, 'dynamodbWrites', TransactItems?.length ?? 0);
      for (const { Put, Update } of TransactItems ?? [])
        Put === undefined ? change(Update?.TableName ?? '', Update?.Key ?? {}) : put(Put.Item);
    } else if (operation === 'BatchGetItem') {
      const keys = Object.values(RequestItems ?? {}).flatMap((one) => (one as BatchKeys).Keys);
      read(keys.length, false);
    } else read(1, input.ConsistentRead === true);
  }

  const end = onAnswered(gatewayUrl, (answered) => {
    const { service, operation, body, answerBytes } = answered;
    const isIdle = operation === 'ReceiveMessage' && answerBytes <= EMPTY_ANSWER_BYTES;
    bump(requests, isIdle ? IDLE_POLLS : `${service} ${operation}`);
    if (service === 'DynamoDB') countDynamoDb(answered);
    else if (service === 'SQS' && !isIdle) {
      bump(
        units,
        'sqsRequests',
        Math.max(1, Math.ceil(Math.max(body.length, answerBytes) / SQS_CHUNK_BYTES)),
      );
    } else if (service === 'S3') bump(units, /^(PUT|POST)|bucket$/.test(operation) ? 's3Puts' : 's3Gets');
    else if (service === 'gateway') bump(units, 'lambdaRequests');
  });

  return {
    take: async () => {
      await Promise.all(lookups);
      const counted = { requests, units, writes, reads };
      requests = new Map();
      units = new Map();
      lookups = [];
      writes = 0;
      reads = 0;
      return counted;
    },
    invoked: (name) => {
      bump(requests, `Lambda ${name}`);
      bump(units, 'lambdaRequests');
    },
    close: end,
  };
}

/** A queue is polled whether it has messages or not, so these are not the cost of an envelope. */
export const IDLE_POLLS = 'SQS ReceiveMessage (empty)';

interface DynamoDbInput {
  readonly TableName?: string;
  readonly ConsistentRead?: boolean;
  readonly Key?: ApiItem;
  readonly Item?: ApiItem;
  readonly RequestItems?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly TransactEntry[];
}

interface BatchEntry {
  readonly PutRequest?: { readonly Item: ApiItem };
  readonly DeleteRequest?: { readonly Key: ApiItem };
}

interface BatchKeys {
  readonly Keys: readonly unknown[];
}

interface TransactEntry {
  readonly Put?: { readonly Item: ApiItem };
  readonly Update?: { readonly TableName: string; readonly Key: ApiItem };
}

function keyOf(item: ApiItem): string {
  return String(item['pk']?.['S']);
}

/** The SDK decodes binary values; on the wire they are base64. */
function encoded(item: Readonly<Record<string, unknown>> | undefined): ApiItem | undefined {
  if (item === undefined) return undefined;
  const replacer = (_: string, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
  return JSON.parse(JSON.stringify(item, replacer)) as ApiItem;
}
