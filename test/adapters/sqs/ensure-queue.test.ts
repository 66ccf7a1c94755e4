import { DeleteQueueCommand, GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureQueue } from '../../../lib/adapters/sqs/ensure-queue.ts';
import { existingQueue, type SqsQueue } from '../../../lib/adapters/sqs/queue-attributes.ts';
import { queueDepths } from '../../../lib/adapters/sqs/queue-depths.ts';
import { sdkSqs } from '../../../lib/adapters/sqs/sdk-sqs.ts';
import { queuePlan } from '../../../lib/config/plan/queue-plan.ts';
import { ensurePair, startTestEngines, type TestEngines } from '../../local/test-engines.ts';

let local: TestEngines;
beforeAll(async () => {
  local = await startTestEngines();
});
afterAll(() => local.close());

const attributesOf = async ({ url }: SqsQueue) =>
  (await local.sqs.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] })))
    .Attributes ?? {};

test('creates the queue and its dead-letter queue as planned, once', async () => {
  const plan = queuePlan(77);
  const { queue, deadLetterQueue, change } = await ensurePair(local.sqs, 'asya-local-score', plan);
  expect(change).toBe('created');
  expect(queue).toMatchObject({
    name: 'asya-local-score',
    arn: 'arn:aws:sqs:us-east-1:000000000000:asya-local-score',
  });
  expect(deadLetterQueue.name).toBe('asya-local-score-dlq');
  expect(await attributesOf(queue)).toMatchObject({
    VisibilityTimeout: '77',
    MessageRetentionPeriod: String(plan.retentionSeconds),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadLetterQueue.arn, maxReceiveCount: 5 }),
  });
  expect(await attributesOf(deadLetterQueue)).toMatchObject({
    MessageRetentionPeriod: String(plan.deadLetterRetentionSeconds),
  });
  expect((await ensurePair(local.sqs, 'asya-local-score', plan)).change).toBe('none');
});

test('with "update", changes attributes that differ from the plan and keeps the messages', async () => {
  const { queue } = await ensurePair(local.sqs, 'changing', queuePlan(10));
  await local.send(queue.url, 'kept');
  const changed = { ...queuePlan(20), maxReceiveCount: 7, deadLetterRetentionSeconds: 3_600 };
  const after = await ensurePair(local.sqs, 'changing', changed);
  expect(after.change).toBe('updated');
  expect(await attributesOf(after.queue)).toMatchObject({
    VisibilityTimeout: '20',
    RedrivePolicy: expect.stringContaining('"maxReceiveCount":7'),
  });
  expect(await attributesOf(after.deadLetterQueue)).toMatchObject({ MessageRetentionPeriod: '3600' });
  expect(await queueDepths(sdkSqs(local.sqs), 'changing')).toMatchObject({ visible: 1 });
});

test('with "report", returns the differences and leaves both queues as they are', async () => {
  const { queue, deadLetterQueue } = await ensurePair(local.sqs, 'reported', queuePlan(10));
  const before = [await attributesOf(queue), await attributesOf(deadLetterQueue)];
  const changed = { ...queuePlan(20), maxReceiveCount: 7, deadLetterRetentionSeconds: 3_600 };
  expect(await ensureQueue(sdkSqs(local.sqs), 'reported', changed, { onDifference: 'report' })).toEqual({
    url: queue.url,
    change: 'none',
    differences: ['VisibilityTimeout is 10, expected 20', 'maxReceiveCount is 5, expected 7'],
  });
  expect([await attributesOf(queue), await attributesOf(deadLetterQueue)]).toEqual(before);
});

test('with "report", creates a dead-letter queue that was deleted', async () => {
  const { deadLetterQueue } = await ensurePair(local.sqs, 'orphan', queuePlan(10));
  await local.sqs.send(new DeleteQueueCommand({ QueueUrl: deadLetterQueue.url }));
  await ensureQueue(sdkSqs(local.sqs), 'orphan', queuePlan(10), { onDifference: 'report' });
  expect(await existingQueue(sdkSqs(local.sqs), 'orphan-dlq')).toEqual(deadLetterQueue);
});
