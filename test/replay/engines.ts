import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
// @ts-expect-error: it comes without types
import dynalite from 'dynalite';
import { dynamoDbClient } from '../../lib/adapters/dynamodb/dynamodb-client.ts';
import { ensureTable } from '../../lib/adapters/dynamodb/table.ts';
import { type Stores, storesFromConfig } from '../../lib/assembly/crew-from-config.ts';
import { type EmbeddedSqs, startEmbeddedSqs } from '../support/embedded-sqs.ts';

/** SQS, S3 and DynamoDB in this process, with an empty bucket and an empty table. */
export interface Engines {
  readonly sqs: EmbeddedSqs;
  readonly stores: Stores;
  /** What the crew and an operator's tools need to reach them. */
  readonly variables: Readonly<Record<string, string>>;
  /** An empty table of its own, for a test that counts what is there; the bucket is the same. */
  freshTable(): Promise<{ stores: Stores; variables: Readonly<Record<string, string>> }>;
  close(): Promise<void>;
}

const REGION = 'us-east-1';
const BUCKET = 'archive';
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

export async function startEngines(): Promise<Engines> {
  const sqs = await startEmbeddedSqs();
  const dynamo = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 }) as Server;
  dynamo.listen(0, '127.0.0.1');
  await once(dynamo, 'listening');
  const dynamoDbEndpoint = `http://127.0.0.1:${(dynamo.address() as AddressInfo).port}`;
  const s3 = new S3Client({
    endpoint: sqs.endpoint,
    region: REGION,
    forcePathStyle: true,
    credentials: CREDENTIALS,
  });
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
  s3.destroy();
  const client = dynamoDbClient({ region: REGION, endpoint: dynamoDbEndpoint }, {});
  const opened: Stores[] = [];
  let tables = 0;

  async function freshTable() {
    const table = `failures-${++tables}`;
    await ensureTable({ client, name: table });
    const storage = { bucket: BUCKET, table, s3Endpoint: sqs.endpoint, dynamoDbEndpoint };
    const stores = storesFromConfig(storage, REGION, {});
    opened.push(stores);
    const variables = {
      ASYA_ARCHIVE_BUCKET: BUCKET,
      ASYA_FAILURE_TABLE: table,
      ASYA_S3_ENDPOINT: sqs.endpoint,
      ASYA_DYNAMODB_ENDPOINT: dynamoDbEndpoint,
      ASYA_SQS_ENDPOINT: sqs.endpoint,
    };
    return { stores, variables };
  }

  return {
    sqs,
    ...(await freshTable()),
    freshTable,
    close: async () => {
      for (const stores of opened) stores.close();
      client.destroy();
      dynamo.close();
      dynamo.closeAllConnections();
      await sqs.close();
    },
  };
}
