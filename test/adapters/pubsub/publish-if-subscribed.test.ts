import { expect, test } from 'vitest';
import { publishIfSubscribed } from '../../../lib/adapters/pubsub/publish-if-subscribed.ts';
import { anHttpServer } from '../../delayer/a-http-server.ts';
import { withoutRequestTimeouts } from '../../support/without-request-timeouts.ts';

withoutRequestTimeouts();

const TOPIC = 'projects/shop/topics/orders';

test('publishes nothing without a subscription, and checks a topic only until it has one', async () => {
  let subscriptions = '{}';
  const server = await anHttpServer(({ method }) => ({
    status: 200,
    body: method === 'GET' ? subscriptions : '{"messageIds":["1"]}',
  }));
  const publish = publishIfSubscribed({ endpoint: server.url });
  expect(await publish(TOPIC, '{}')).toEqual({
    ok: false,
    problem: `${TOPIC} has no subscription, so Pub/Sub would drop the message; create a subscription`,
    isQueueMissing: true,
  });
  subscriptions = '{"subscriptions":["projects/shop/subscriptions/orders"]}';
  expect(await publish(TOPIC, '{}')).toEqual({ ok: true });
  expect(await publish(TOPIC, '{}')).toEqual({ ok: true });
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `GET /v1/${TOPIC}/subscriptions?pageSize=1`,
    `GET /v1/${TOPIC}/subscriptions?pageSize=1`,
    `POST /v1/${TOPIC}:publish`,
    `POST /v1/${TOPIC}:publish`,
  ]);
});

test('checks a topic again after it was deleted', async () => {
  let exists = true;
  const server = await anHttpServer(({ method }) =>
    exists
      ? { status: 200, body: method === 'GET' ? '{"subscriptions":["s"]}' : '{}' }
      : { status: 404, body: 'no such topic' },
  );
  const publish = publishIfSubscribed({ endpoint: server.url });
  expect(await publish(TOPIC, '{}')).toEqual({ ok: true });
  exists = false;
  expect(await publish(TOPIC, '{}')).toMatchObject({ ok: false, isQueueMissing: true });
  expect(await publish(TOPIC, '{}')).toMatchObject({ ok: false, isQueueMissing: true });
  expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'POST', 'GET']);
});

test('names the missing role if the check is denied, and publishes nothing', async () => {
  const server = await anHttpServer(() => ({ status: 403, body: 'PERMISSION_DENIED' }));
  const publish = publishIfSubscribed({ endpoint: server.url });
  expect(await publish(TOPIC, '{}')).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/roles\/pubsub\.viewer.*403: PERMISSION_DENIED/),
  });
  expect(server.requests.map(({ method }) => method)).toEqual(['GET']);
});
