import { CreateBucketCommand, GetObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { dynamoDbClient } from '../../lib/adapters/dynamodb/dynamodb-client.ts';
import { ensureTable } from '../../lib/adapters/dynamodb/table.ts';
import { type Stores, storesFromConfig } from '../../lib/assembly/from-config/crew-from-config.ts';
import { startEmbeddedDynamoDb } from './embedded-dynamodb.ts';
import { type EmbeddedSqs, startEmbeddedSqs } from './embedded-sqs.ts';
import { type OutageProxy, startOutageProxy } from './outage-proxy.ts';

/** Queues, a bucket and a table for the crew, in this process. The bucket and the table are behind outage proxies. */
export interface EmbeddedStores {
  readonly sqs: EmbeddedSqs;
  readonly s3: OutageProxy;
  readonly dynamoDb: OutageProxy;
  readonly bucket: string;
  readonly table: string;
  /** The settings of a crew member that uses them. */
  readonly variables: Readonly<Record<string, string>>;
  /** The crew's stores, without the proxies. */
  readonly stores: Stores;
  /** The crew's stores through the proxies, optionally with another bucket, table or key. */
  storesWith(changes?: { bucket?: string; table?: string; kmsKey?: string }): Stores;
  /** All keys in the bucket. */
  keys(): Promise<readonly string[]>;
  /** The text of an object. Rejects if it does not exist. */
  object(key: string): Promise<string>;
  close(): Promise<void>;
}

const REGION = 'us-east-1';
const BUCKET = 'envelopes';
const TABLE = 'failures';

export async function startEmbeddedStores(): Promise<EmbeddedStores> {
  const sqs = await startEmbeddedSqs();
  const dynamo = await startEmbeddedDynamoDb();
  const [s3, dynamoDb] = await Promise.all([
    startOutageProxy(sqs.endpoint),
    startOutageProxy(dynamo.endpoint),
  ]);
  const client = new S3Client({
    endpoint: sqs.endpoint,
    region: REGION,
    forcePathStyle: true,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  const tables = dynamoDbClient({ region: REGION, endpoint: dynamo.endpoint }, {});
  await ensureTable({ client: tables, name: TABLE });
  tables.destroy();
  const made: Stores[] = [];
  const storesAt = (s3Endpoint: string, dynamoDbEndpoint: string, changes: object = {}) => {
    const storage = { bucket: BUCKET, table: TABLE, s3Endpoint, dynamoDbEndpoint, ...changes };
    const stores = storesFromConfig(storage, REGION, {});
    made.push(stores);
    return stores;
  };
  return {
    sqs,
    s3,
    dynamoDb,
    bucket: BUCKET,
    table: TABLE,
    variables: {
      ASYA_ARCHIVE_BUCKET: BUCKET,
      ASYA_FAILURE_TABLE: TABLE,
      ASYA_SQS_ENDPOINT: sqs.endpoint,
      ASYA_S3_ENDPOINT: s3.endpoint,
      ASYA_DYNAMODB_ENDPOINT: dynamoDb.endpoint,
    },
    stores: storesAt(sqs.endpoint, dynamo.endpoint),
    storesWith: (changes) => storesAt(s3.endpoint, dynamoDb.endpoint, changes),
    keys: async () => {
      const keys: string[] = [];
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: BUCKET }))
        keys.push(...Contents.map(({ Key = '' }) => Key));
      return keys;
    },
    object: async (Key) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key }));
      return (await Body?.transformToString('utf-8')) ?? '';
    },
    close: async () => {
      for (const stores of made) stores.close();
      client.destroy();
      await Promise.all([s3.goDown(), dynamoDb.goDown()]);
      await Promise.all([sqs.close(), dynamo.close()]);
    },
  };
}
