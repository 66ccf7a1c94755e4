import { expect, it } from 'vitest';
import type { PubsubClient } from '../../../lib/adapters/pubsub/pubsub-client.ts';
import { pubsubQueues } from '../../../lib/adapters/pubsub/pubsub-queues.ts';
import { queuePlan } from '../../../lib/config/plan/queue-plan.ts';

const NOT_FOUND = Object.assign(new Error('5 NOT_FOUND'), { code: 5 });

/** Topics of which only one is there, and how often the client was asked to make each. */
function aClient() {
  const made: string[] = [];
  const topic = (name: string) => {
    made.push(name);
    const getSubscriptions = async () => {
      if (name === 'there') return [['a subscription']];
      throw NOT_FOUND;
    };
    return { name, getSubscriptions };
  };
  const client = { projectId: 'shop', publisher: { topic }, subscriber: {} } as unknown as PubsubClient;
  return { made, queues: pubsubQueues(client, queuePlan(60)) };
}

it('a queue that is not there is not kept in mind, one that is there is', async () => {
  const { made, queues } = aClient();
  for (let n = 0; n < 2; n++) {
    expect(await queues.checkSubscribed('there')).toEqual({ ok: true });
    expect(await queues.checkSubscribed('missing')).toMatchObject({ ok: false, isQueueMissing: true });
  }
  expect(made).toEqual(['there', 'missing', 'missing']);
});
