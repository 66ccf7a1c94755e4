import { afterAll, describe, expect, test } from 'vitest';
import { AUDIENCE, aTokenIssuer, PUSHER } from '../adapters/json-web-tokens/a-token-issuer.ts';
import { endProcesses, saying, until } from '../sidecar/sidecar-process.ts';
import { anHttpServer } from './a-http-server.ts';
import { aTaskService } from './a-task-service.ts';
import { aPubSub, delayAttributes, post, pushBody, QUEUE, startDelayer, urlOf } from './delayer-process.ts';

/** The delayer as a process, with fakes of Google's services. */

afterAll(endProcesses);

const ON_CLOUD_TASKS = {
  DELAYER_PROJECT_ID: 'shop',
  DELAYER_LOCATION: 'europe-west1',
  DELAYER_QUEUE: 'delays',
  DELAYER_TASK_SERVICE_ACCOUNT: 'tasks@shop.iam.gserviceaccount.com',
  DELAYER_ACCESS_TOKEN: 'good',
  DELAYER_PUSH_AUTH: 'none',
};

async function aDelayer(variables: Readonly<Record<string, string>> = {}, pubSub = aPubSub()) {
  const tasks = await aTaskService(QUEUE);
  const errors = await pubSub;
  const delayer = startDelayer({
    ...ON_CLOUD_TASKS,
    DELAYER_TASKS_ENDPOINT: tasks.url,
    DELAYER_PUBSUB_ENDPOINT: errors.url,
    ...variables,
  });
  return { delayer, url: await urlOf(delayer), tasks, pubSub: errors };
}

describe.concurrent('the delayer', () => {
  test('creates one task for a message, however often it is delivered', async () => {
    const queues = { DELAYER_QUEUES: '{"slow-*":"slow"}' };
    const { url, tasks, pubSub, delayer } = await aDelayer(queues);
    tasks.queues.add(QUEUE.replace('delays', 'slow'));
    const publishTime = '2026-01-01T00:00:00.5Z';
    const push = pushBody({
      id: '7',
      attributes: { ...delayAttributes('1d12h'), retryCount: '3' },
      publishTime,
    });
    for (let delivery = 1; delivery <= 3; delivery++)
      expect(await post(url, push)).toMatchObject({ status: 204 });
    expect(
      await post(url, pushBody({ id: '8', attributes: delayAttributes('2s', 'slow-orders') })),
    ).toMatchObject({
      status: 204,
    });
    expect(tasks.tasks).toHaveLength(2);
    const [first, second] = tasks.tasks;
    expect(first).toMatchObject({
      name: expect.stringContaining(`${QUEUE}/tasks/`),
      scheduleTime: '2026-01-02T12:00:00.5Z',
      httpRequest: { url: `${pubSub.url}/v1/projects/shop/topics/orders:publish` },
    });
    expect(JSON.parse(Buffer.from(first?.httpRequest.body ?? '', 'base64').toString())).toEqual({
      messages: [{ data: Buffer.from('the data').toString('base64'), attributes: { retryCount: '3' } }],
    });
    expect(second?.name).toContain('/queues/slow/tasks/');
    expect(pubSub.published).toEqual([]);
    const scheduled = () => delayer.lines.filter(saying('scheduled'));
    await until(() => scheduled().length >= 4, 'each push is logged');
    expect(scheduled().map(({ isNew }) => isNew)).toEqual([true, false, false, true]);
    expect(delayer.output(), 'the log does not contain the data').not.toMatch(/the data|dGhlIGRhdGE/);
  });

  test('publishes a message that cannot be delayed to the errors topic, with the reason', async () => {
    const { url, tasks, pubSub } = await aDelayer();
    const pushes = [
      pushBody({ id: '1', attributes: { ...delayAttributes('soon'), eventTime: '2026-01-01T00:00:00Z' } }),
      pushBody({ id: '2', attributes: delayAttributes('31d') }),
      pushBody({ id: '3', attributes: delayAttributes('1s'), data: 'x'.repeat(800_000) }),
    ];
    for (const push of pushes) expect(await post(url, push)).toMatchObject({ status: 204 });
    expect(tasks.requests).toEqual([]);
    expect(pubSub.published).toMatchObject([
      {
        topic: 'sending-mg-errors',
        data: 'the data',
        attributes: {
          ...delayAttributes('soon'),
          eventTime: '2026-01-01T00:00:00Z',
          errorType: 'DelayRefused',
          errorReason: 'unreadable',
          errorMessageId: '1',
        },
        // The token is only for Google's own endpoint.
        authorization: undefined,
      },
      { attributes: { errorReason: 'too-far-ahead' } },
      { data: 'x'.repeat(800_000), attributes: { errorReason: 'too-large' } },
    ]);
    tasks.nextFailures.push(400);
    await post(url, pushBody({ id: '4', attributes: delayAttributes('1s') }));
    expect(pubSub.published.at(-1)).toMatchObject({
      attributes: { errorReason: 'rejected', errorMessageId: '4' },
    });
  });

  test('does not acknowledge a message before it is stored', async () => {
    let isDown = true;
    const pubSub = aPubSub(() => (isDown ? { status: 503, body: 'down' } : { status: 200, body: '{}' }));
    const { url, tasks, pubSub: errors } = await aDelayer({}, pubSub);
    const unreadable = pushBody({ attributes: {} });
    expect(await post(url, unreadable)).toMatchObject({ status: 503 });
    isDown = false;
    expect(await post(url, unreadable)).toMatchObject({ status: 204 });
    expect(errors.published).toHaveLength(1);
    const delayed = pushBody({ id: '9', attributes: delayAttributes('1s') });
    for (const failure of [429, 503, 0, 403]) {
      tasks.nextFailures.push(failure);
      expect(await post(url, delayed)).toMatchObject({ status: 503 });
    }
    expect(await post(url, delayed)).toMatchObject({ status: 204 });
    expect(tasks.tasks).toHaveLength(1);
    expect(errors.published).toHaveLength(1);
  });

  test('does not publish to an errors topic without a subscription', async () => {
    let subscriptions = '{}';
    const pubSub = await anHttpServer(({ method }) => ({
      status: 200,
      body: method === 'GET' ? subscriptions : '{"messageIds":["1"]}',
    }));
    const { url, delayer } = await aDelayer({ DELAYER_PUBSUB_ENDPOINT: pubSub.url });
    const unreadable = pushBody({ attributes: {} });
    expect(await post(url, unreadable)).toMatchObject({ status: 503 });
    const { problem } = await delayer.untilLine(
      saying('the message was not stored; Pub/Sub delivers it again'),
    );
    expect(problem).toContain('topics/sending-mg-errors has no subscription');
    subscriptions = '{"subscriptions":["projects/shop/subscriptions/errors"]}';
    expect(await post(url, unreadable)).toMatchObject({ status: 204 });
    expect(pubSub.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
  });

  test('answers health checks, and rejects requests that are not a push', async () => {
    const { url } = await aDelayer();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(url)).status).toBe(405);
    expect(await post(url, 'hello')).toMatchObject({
      status: 400,
      text: expect.stringContaining('unwrapping'),
    });
    expect(await post(url, '{}')).toMatchObject({ status: 400 });
    const garbled = pushBody({ attributes: delayAttributes('1s') }).replace('dGhlIGRhdGE', 'dGhl*GRhdGE');
    expect(await post(url, garbled)).toMatchObject({ status: 400, text: expect.stringContaining('base64') });
    expect(await post(url, 'x'.repeat(17 * 1024 * 1024))).toMatchObject({ status: 413 });
  });

  test('accepts pushes from the configured service account only', async () => {
    const issuer = await aTokenIssuer();
    const { url, tasks, pubSub } = await aDelayer({
      DELAYER_PUSH_AUTH: 'oidc',
      DELAYER_PUSH_AUDIENCE: AUDIENCE,
      DELAYER_PUSH_SERVICE_ACCOUNT: PUSHER,
      DELAYER_PUSH_JWKS_URL: issuer.url,
    });
    const push = pushBody({ attributes: delayAttributes('1s') });
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    expect(await post(url, push)).toMatchObject({ status: 401 });
    expect(await post(url, push, bearer(await issuer.forged()))).toMatchObject({ status: 401 });
    const eve = await issuer.token({ claims: { email: 'eve@shop.iam.gserviceaccount.com' } });
    expect(await post(url, push, bearer(eve))).toMatchObject({ status: 403 });
    expect([...tasks.requests, ...pubSub.requests]).toEqual([]);
    expect(await post(url, push, bearer(await issuer.token()))).toMatchObject({ status: 204 });
    expect(tasks.tasks).toHaveLength(1);
  });

  test('on SIGTERM, finishes the push in progress and rejects new ones', async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const slow = await anHttpServer(async () => {
      await finished;
      return { status: 200, body: '{}' };
    });
    const { url, delayer } = await aDelayer({
      DELAYER_TASKS_ENDPOINT: slow.url,
      DELAYER_GRACE_PERIOD: '30s',
    });
    const answering = post(url, pushBody({ attributes: delayAttributes('1s') }));
    await until(() => slow.requests.length === 1, 'the request for the task arrives');
    delayer.signal('SIGTERM');
    await delayer.untilLine(saying('stopping'));
    expect(await post(url, pushBody({ id: '2', attributes: delayAttributes('1s') }))).toMatchObject({
      status: 503,
    });
    finish();
    expect(await answering).toMatchObject({ status: 204 });
    expect(await delayer.untilExit()).toEqual({ code: 0, signal: null });
    expect(slow.requests).toHaveLength(1);
  });

  test('reports all mistakes in its configuration, and does not start', async () => {
    const delayer = startDelayer({
      DELAYER_QUEUE: 'two words',
      DELAYER_QUEUES: '{"orders":7}',
      DELAYER_ENGIN: 'timer-file',
      DELAYER_PUSH_SERVICE_ACCOUNT: 'not-an-account',
      PORT: 'http',
    });
    expect(await delayer.untilExit()).toEqual({ code: 2, signal: null });
    const printed = delayer.errorOutput();
    for (const mistake of [
      '8 mistakes',
      'DELAYER_PROJECT_ID: is not set',
      'DELAYER_QUEUE: is "two words"',
      'DELAYER_QUEUES: is "{\\"orders\\":7}"; "orders" has 7',
      'DELAYER_ENGIN: is not a known setting; did you mean "DELAYER_ENGINE"?',
      'DELAYER_TASK_SERVICE_ACCOUNT: is not set',
      'DELAYER_PUSH_SERVICE_ACCOUNT: is "not-an-account"',
      'DELAYER_PUSH_AUDIENCE: is not set',
      'PORT: is "http"',
    ])
      expect(printed).toContain(mistake);
  });
});
