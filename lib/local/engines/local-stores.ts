import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { dynamoDbClient } from '../../adapters/dynamodb/dynamodb-client.ts';
import { ensureTable } from '../../adapters/dynamodb/table.ts';
import { type Engines, LOCAL_REGION } from './engines.ts';

export const ARCHIVE_BUCKET = 'asya-archive';
export const FAILURE_TABLE_NAME = 'asya-failures';

/** Creates the archive's bucket and the failure table if they do not exist. */
export async function ensureStores({ s3Endpoint, dynamodbEndpoint }: Engines): Promise<void> {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const s3 = new S3Client({ endpoint: s3Endpoint, region: LOCAL_REGION, forcePathStyle: true, credentials });
  const dynamoDb = dynamoDbClient({ endpoint: dynamodbEndpoint, region: LOCAL_REGION }, {});
  try {
    await Promise.all([
      s3.send(new CreateBucketCommand({ Bucket: ARCHIVE_BUCKET })).catch(ignoreExisting),
      ensureTable({ client: dynamoDb, name: FAILURE_TABLE_NAME }),
    ]);
  } finally {
    s3.destroy();
    dynamoDb.destroy();
  }
}

function ignoreExisting(error: unknown): void {
  const name = error instanceof Error ? error.name : '';
  if (name !== 'BucketAlreadyOwnedByYou' && name !== 'BucketAlreadyExists') throw error;
}
