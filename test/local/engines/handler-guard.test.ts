import {
  CopyObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { CreateQueueCommand, ListQueuesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOCAL_REGION } from '../../../lib/local/engines/engines.ts';
import { HANDLER_CREDENTIALS } from '../../../lib/local/engines/handler-guard.ts';
import { ensureBuckets } from '../../../lib/local/engines/local-stores.ts';
import { type SqsEngine, startSqs } from '../../../lib/local/engines/sqs-engine.ts';
import { ARCHIVE_BUCKET } from '../../../lib/local/engines/store-names.ts';

let engine: SqsEngine;
beforeAll(async () => {
  engine = await startSqs(undefined, 0);
  await ensureBuckets(engine.endpoint, ['pictures', ARCHIVE_BUCKET]);
});
afterAll(() => engine.close());

function clients(credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }) {
  const common = { endpoint: engine.endpoint, region: LOCAL_REGION, credentials };
  return {
    // Without `forcePathStyle`: handlers do not set it, and the endpoint is an address without a name.
    s3: new S3Client(common),
    sqs: new SQSClient({ ...common, useQueueUrlAsEndpoint: false }),
  };
}
const handler = () => clients(HANDLER_CREDENTIALS);
const mesh = () => clients({ accessKeyId: 'local', secretAccessKey: 'local' });

test('a handler reads and writes objects of a declared bucket', async () => {
  const { s3 } = handler();
  await s3.send(new PutObjectCommand({ Bucket: 'pictures', Key: 'a/b.txt', Body: 'hello' }));
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'pictures', Key: 'a/b.txt' }));
  expect(await Body?.transformToString()).toBe('hello');
});

test('a handler cannot reach the queues of the mesh', async () => {
  const { QueueUrl } = await mesh().sqs.send(new CreateQueueCommand({ QueueName: 'score' }));
  const { sqs } = handler();
  for (const command of [
    new SendMessageCommand({ QueueUrl, MessageBody: '{}' }),
    new ListQueuesCommand(),
  ] as const)
    await expect(sqs.send(command as ListQueuesCommand)).rejects.toMatchObject({
      name: 'AccessDenied',
      message: expect.stringContaining('handlers can use only S3 of the embedded engines, not sqs'),
    });
});

test('a handler cannot reach the archive, neither directly nor as the source of a copy', async () => {
  await mesh().s3.send(new PutObjectCommand({ Bucket: ARCHIVE_BUCKET, Key: 'a', Body: 'end' }));
  const { s3 } = handler();
  for (const command of [
    new ListObjectsV2Command({ Bucket: ARCHIVE_BUCKET }),
    new GetObjectCommand({ Bucket: ARCHIVE_BUCKET, Key: 'a' }),
    new CopyObjectCommand({ Bucket: 'pictures', Key: 'a', CopySource: `${ARCHIVE_BUCKET}/a` }),
    new CopyObjectCommand({ Bucket: 'pictures', Key: 'a', CopySource: `/${ARCHIVE_BUCKET}/a` }),
  ] as const)
    await expect(s3.send(command as ListObjectsV2Command)).rejects.toMatchObject({ name: 'AccessDenied' });
});
