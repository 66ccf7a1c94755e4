import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { dynamoDbClient } from '../../adapters/dynamodb/dynamodb-client.ts';
import { ensureTable } from '../../adapters/dynamodb/table.ts';
import { type Engines, LOCAL_REGION } from './engines.ts';
import { ARCHIVE_BUCKET, FAILURE_TABLE_NAME } from './store-names.ts';

/** Creates the archive's bucket and the failure table if they do not exist. */
export async function ensureStores({ s3Endpoint, dynamodbEndpoint }: Engines): Promise<void> {
  const dynamoDb = dynamoDbClient({ endpoint: dynamodbEndpoint, region: LOCAL_REGION }, {});
  try {
    await Promise.all([
      ensureBuckets(s3Endpoint, [ARCHIVE_BUCKET]),
      ensureTable({ client: dynamoDb, name: FAILURE_TABLE_NAME }),
    ]);
  } finally {
    dynamoDb.destroy();
  }
}

/** Creates these buckets if they do not exist. */
export async function ensureBuckets(endpoint: string, names: readonly string[]): Promise<void> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const s3 = new S3Client({ endpoint, region: LOCAL_REGION, forcePathStyle: true, credentials });
  try {
    await Promise.all(
      names.map((Bucket) => s3.send(new CreateBucketCommand({ Bucket })).catch(ignoreExisting)),
    );
  } finally {
    s3.destroy();
  }
}

function ignoreExisting(error: unknown): void {
  const name = error instanceof Error ? error.name : '';
  if (name !== 'BucketAlreadyOwnedByYou' && name !== 'BucketAlreadyExists') throw error;
}
