import { describe, expect, it } from 'vitest';
import { cloudTasks } from '../../../lib/adapters/cloud-tasks/cloud-tasks.ts';
import { fixedAccessToken, metadataAccessToken } from '../../../lib/adapters/google-metadata/access-token.ts';
import type { Publication } from '../../../lib/core/pipeline/plan-delay.ts';
import { anHttpServer } from '../../delayer/a-http-server.ts';
import { aTaskService } from '../../delayer/a-task-service.ts';
import { withoutRequestTimeouts } from '../../support/without-request-timeouts.ts';

withoutRequestTimeouts();

const QUEUE = 'projects/shop/locations/europe-west1/queues/delays';
const BODY = '{"messages":[{"data":"w7w=","attributes":{"name":"\u00fc"}}]}';

function aPublication(changes: Partial<Publication> = {}): Publication {
  const topic = 'projects/shop/topics/orders';
  return { name: 'one', queue: QUEUE, dueMs: Date.UTC(2026, 0, 1) + 250, topic, body: BODY, ...changes };
}

const serviceAccount = 'tasks@shop.iam.gserviceaccount.com';

async function anEngine(token = fixedAccessToken('good')) {
  const service = await aTaskService(QUEUE);
  return { service, engine: cloudTasks({ endpoint: service.url, accessToken: token, serviceAccount }) };
}

describe('a publication', () => {
  it('becomes a task that publishes to Pub/Sub', async () => {
    const { service, engine } = await anEngine();
    expect(await engine.schedule(aPublication())).toEqual({ ok: true, isNew: true });
    expect(service.tasks).toEqual([
      {
        name: `${QUEUE}/tasks/one`,
        scheduleTime: '2026-01-01T00:00:00.25Z',
        httpRequest: {
          httpMethod: 'POST',
          url: 'https://pubsub.googleapis.com/v1/projects/shop/topics/orders:publish',
          headers: { 'content-type': 'application/json' },
          body: Buffer.from(BODY).toString('base64'),
          oauthToken: {
            serviceAccountEmail: serviceAccount,
            scope: 'https://www.googleapis.com/auth/pubsub',
          },
        },
      },
    ]);
  });

  it('is accepted again if it was scheduled before', async () => {
    const { service, engine } = await anEngine();
    await engine.schedule(aPublication());
    expect(await engine.schedule(aPublication())).toEqual({ ok: true, isNew: false });
    expect(service.tasks).toHaveLength(1);
  });

  it('is refused permanently if Cloud Tasks can never accept it', async () => {
    const { engine } = await anEngine();
    expect(await engine.schedule(aPublication({ dueMs: Date.now() + 40 * 86_400_000 }))).toEqual({
      ok: false,
      isPermanent: true,
      problem: expect.stringMatching(/answered 400: The Task.scheduleTime is too far in the future/),
    });
  });
});

describe('a temporary failure', () => {
  it.each([429, 500, 502, 503, 504, 403, 0])('%s', async (failure) => {
    const { service, engine } = await anEngine();
    service.nextFailures.push(failure);
    const reply = await engine.schedule(aPublication());
    expect(reply).toMatchObject({ ok: false });
    expect(reply).not.toHaveProperty('isPermanent');
    expect(reply).toMatchObject({
      problem: failure === 0 ? expect.stringMatching(/./) : expect.stringContaining(`answered ${failure}`),
    });
    expect(await engine.schedule(aPublication())).toEqual({ ok: true, isNew: true });
  });

  it('a queue that is missing until it is created', async () => {
    const { service, engine } = await anEngine();
    const elsewhere = aPublication({ queue: `${QUEUE}-2` });
    const missing = await engine.schedule(elsewhere);
    expect(missing).toEqual({ ok: false, problem: expect.stringContaining(`${QUEUE}-2/tasks answered 404`) });
    service.queues.add(`${QUEUE}-2`);
    expect(await engine.schedule(elsewhere)).toEqual({ ok: true, isNew: true });
  });

  it('a refused connection', async () => {
    const engine = cloudTasks({
      endpoint: 'http://127.0.0.1:1',
      accessToken: fixedAccessToken('good'),
      serviceAccount,
    });
    expect(await engine.schedule(aPublication())).toEqual({
      ok: false,
      problem: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1\//),
    });
  });
});

describe('the access token', () => {
  const answering = (token: string, seconds: number) => ({
    status: 200,
    body: JSON.stringify({ access_token: token, expires_in: seconds, token_type: 'Bearer' }),
  });

  it('is fetched from the metadata server once, until it is about to expire', async () => {
    let now = 0;
    const metadata = await anHttpServer(() => answering('good', 3_600));
    const { service, engine } = await anEngine(metadataAccessToken({ host: metadata.host, now: () => now }));
    await Promise.all(['a', 'b', 'c'].map((name) => engine.schedule(aPublication({ name }))));
    expect(service.tasks).toHaveLength(3);
    expect(metadata.requests).toMatchObject([
      {
        path: '/computeMetadata/v1/instance/service-accounts/default/token',
        headers: { 'metadata-flavor': 'Google' },
      },
    ]);
    now = 3_539_000;
    await engine.schedule(aPublication({ name: 'd' }));
    expect(metadata.requests).toHaveLength(1);
    now = 3_541_000;
    await engine.schedule(aPublication({ name: 'e' }));
    expect(metadata.requests).toHaveLength(2);
  });

  it('is renewed once if it is rejected', async () => {
    let issued = 0;
    const metadata = await anHttpServer(() => answering(`token-${++issued}`, 3_600));
    const { service, engine } = await anEngine(metadataAccessToken({ host: metadata.host, now: () => 0 }));
    service.tokens.add('token-2');
    expect(await engine.schedule(aPublication())).toEqual({ ok: true, isNew: true });
    service.tokens.clear();
    expect(await engine.schedule(aPublication())).toEqual({
      ok: false,
      problem: expect.stringContaining('the access token was rejected'),
    });
    expect(issued).toBe(3);
  });

  it.each([
    ['a server that fails', { status: 500, body: 'no' }, 'answered 500: no'],
    ['an answer without a token', { status: 200, body: '{}' }, 'the response has no access_token'],
    ['invalid JSON', { status: 200, body: 'hello' }, 'JSON'],
    ['a closed connection', undefined, 'token'],
  ])('is requested again after a failure: %s', async (_, answer, message) => {
    let answers = [answer];
    const metadata = await anHttpServer(() =>
      answers.length > 0 ? answers.pop() : answering('good', 3_600),
    );
    const { service, engine } = await anEngine(metadataAccessToken({ host: metadata.host, now: () => 0 }));
    const reply = await engine.schedule(aPublication());
    expect(reply).toEqual({ ok: false, problem: expect.stringContaining(message) });
    expect(service.requests).toEqual([]);
    answers = [];
    expect(await engine.schedule(aPublication())).toEqual({ ok: true, isNew: true });
  });
});
