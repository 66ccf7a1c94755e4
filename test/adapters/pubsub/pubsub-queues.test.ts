import { expect, it } from 'vitest';
import type { PubsubClient } from '../../../lib/adapters/pubsub/pubsub-client.ts';
import { pubsubQueues } from '../../../lib/adapters/pubsub/pubsub-queues.ts';
import { queuePlan } from '../../../lib/config/plan/queue-plan.ts';

const NOT_FOUND = Object.assign(new Error('5 NOT_FOUND'), { code: 5 });

/** A client with one existing topic. `made` lists the topic objects that it created. */
function aClient() {
  const made: string[] = [];
  const topic = (name: string) => {
    made.push(name);
    const getSubscriptions = async () => {
      if (name === 'existing') return [['a subscription']];
      throw NOT_FOUND;
    };
    return { name, getSubscriptions };
  };
  const client = { projectId: 'shop', publisher: { topic }, subscriber: {} } as unknown as PubsubClient;
  return { made, queues: pubsubQueues(client, queuePlan(60)) };
}

it('caches an existing queue, but not a missing one', async () => {
  const { made, queues } = aClient();
  for (let n = 0; n < 2; n++) {
    expect(await queues.checkSubscribed('existing')).toEqual({ ok: true });
    expect(await queues.checkSubscribed('missing')).toMatchObject({ ok: false, isQueueMissing: true });
  }
  expect(made).toEqual(['existing', 'missing', 'missing']);
});
