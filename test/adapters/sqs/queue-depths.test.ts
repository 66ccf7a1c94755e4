import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queueDepths } from '../../../lib/adapters/sqs/queue-depths.ts';
import { sdkSqs } from '../../../lib/adapters/sqs/sdk-sqs.ts';
import { queuePlan } from '../../../lib/config/plan/queue-plan.ts';
import { ensurePair, startTestEngines, type TestEngines } from '../../local/test-engines.ts';

let local: TestEngines;
beforeAll(async () => {
  local = await startTestEngines();
});
afterAll(() => local.close());

test('counts messages by state, and dead letters in any state', async () => {
  const { queue, deadLetterQueue } = await ensurePair(local.sqs, 'deep', queuePlan(60));
  await local.send(queue.url, 'a', 'b', 'c');
  await local.sqs.send(new ReceiveMessageCommand({ QueueUrl: queue.url, MaxNumberOfMessages: 1 }));
  await local.sqs.send(
    new SendMessageCommand({ QueueUrl: queue.url, MessageBody: 'later', DelaySeconds: 60 }),
  );
  await local.send(deadLetterQueue.url, 'd', 'e');
  await local.sqs.send(new ReceiveMessageCommand({ QueueUrl: deadLetterQueue.url }));
  expect(await queueDepths(sdkSqs(local.sqs), 'deep')).toEqual({
    visible: 2,
    inFlight: 1,
    delayed: 1,
    deadLettered: 2,
  });
});

test('returns undefined for a queue that does not exist', async () => {
  expect(await queueDepths(sdkSqs(local.sqs), 'nowhere')).toBeUndefined();
});
