import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queueDepths } from '../../../lib/adapters/sqs/queue-depths.ts';
import { queuePlan } from '../../../lib/config/plan/queue-plan.ts';
import { ensurePair, type Floor, layFloor } from '../../local/a-mesh-floor.ts';

let floor: Floor;
beforeAll(async () => {
  floor = await layFloor();
});
afterAll(() => floor.close());

test('counts messages by state, and dead letters in any state', async () => {
  const { queue, deadLetterQueue } = await ensurePair(floor.sqs, 'deep', queuePlan(60));
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
});

test('returns undefined for a queue that does not exist', async () => {
  expect(await queueDepths(floor.sqs, 'nowhere')).toBeUndefined();
});
