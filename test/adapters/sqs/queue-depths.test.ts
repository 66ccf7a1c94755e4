import { GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureQueue, type LocalQueue, queueDepths } from '../../../lib/adapters/sqs/queue-depths.ts';
import { queuePlan } from '../../../lib/config/plan/queue-plan.ts';
import { type Floor, layFloor } from '../../local/a-mesh-floor.ts';

let floor: Floor;
beforeAll(async () => {
  floor = await layFloor();
});
afterAll(() => floor.close());

const attributesOf = async ({ url }: LocalQueue) =>
  (await floor.sqs.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] })))
    .Attributes ?? {};

test('a queue is made as planned with its dead-letter queue, once', async () => {
  const plan = queuePlan(77);
  const { queue, deadLetterQueue, change } = await ensureQueue(floor.sqs, 'asya-local-score', plan);
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
  expect((await ensureQueue(floor.sqs, 'asya-local-score', plan)).change).toBe('none');
});

test('a changed plan changes the queue, and what is in it stays', async () => {
  const { queue } = await ensureQueue(floor.sqs, 'changing', queuePlan(10));
  await floor.send(queue.url, 'kept');
  const changed = { ...queuePlan(20), maxReceiveCount: 7, deadLetterRetentionSeconds: 3_600 };
  const after = await ensureQueue(floor.sqs, 'changing', changed);
  expect(after.change).toBe('updated');
  expect(await attributesOf(after.queue)).toMatchObject({
    VisibilityTimeout: '20',
    RedrivePolicy: expect.stringContaining('"maxReceiveCount":7'),
  });
  expect(await attributesOf(after.deadLetterQueue)).toMatchObject({ MessageRetentionPeriod: '3600' });
  expect(await queueDepths(floor.sqs, 'changing')).toMatchObject({ visible: 1 });
});

test('depths tell each state, and a queue that is not there has none', async () => {
  const { queue, deadLetterQueue } = await ensureQueue(floor.sqs, 'deep', queuePlan(60));
  await floor.send(queue.url, 'a', 'b', 'c');
  await floor.sqs.send(new ReceiveMessageCommand({ QueueUrl: queue.url, MaxNumberOfMessages: 1 }));
  await floor.sqs.send(
    new SendMessageCommand({ QueueUrl: queue.url, MessageBody: 'later', DelaySeconds: 60 }),
  );
  await floor.send(deadLetterQueue.url, 'd', 'e');
  await floor.sqs.send(new ReceiveMessageCommand({ QueueUrl: deadLetterQueue.url }));
  expect(await queueDepths(floor.sqs, 'deep')).toEqual({
    visible: 2,
    inFlight: 1,
    delayed: 1,
    deadLettered: 2,
  });
  expect(await queueDepths(floor.sqs, 'nowhere')).toBeUndefined();
});
