import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AUDIENCE, aTokenIssuer, PUSHER } from '../../adapters/json-web-tokens/a-token-issuer.ts';
import { post, startDelayer, urlOf } from '../../delayer/delayer-process.ts';
import { envelopeAt } from '../../sidecar/envelopes.ts';
import {
  type LogLine,
  pause,
  pythonRuntime,
  type RunningProcess,
  saying,
  startShell,
  temporaryFolder,
  until,
} from '../../sidecar/sidecar-process.ts';
import { startEmbeddedStores } from '../../support/embedded-stores.ts';
import { isAlive, pidsIn } from '../../support/pids.ts';
import { PROJECT, PUBSUB_ABSENCE } from '../../support/pubsub.ts';
import { type CloudRunStage, pushOf, setCloudRunStage } from './a-cloud-run-stage.ts';

/** Waits for at least `count` matching log lines: a line may be read a moment after its event. */
async function linesFrom(
  { lines }: RunningProcess,
  matches: (line: LogLine) => boolean,
  count: number,
): Promise<readonly LogLine[]> {
  await until(() => lines.filter(matches).length >= count, `${count} matching log lines`);
  return lines.filter(matches);
}

/** The host on Cloud Run as a process, with a real runtime and pushes from Google's emulator. */

if (PUBSUB_ABSENCE !== undefined) console.log(`pushes of Pub/Sub: skipped, because ${PUBSUB_ABSENCE}`);

describe.skipIf(PUBSUB_ABSENCE !== undefined)('a host on Cloud Run', { timeout: 180_000 }, () => {
  let stage: CloudRunStage;
  beforeAll(async () => {
    stage = await setCloudRunStage('x-sink');
  }, 120_000);
  afterAll(() => stage?.close());

  const send = (envelope: ReturnType<typeof envelopeAt>) =>
    stage.pubsub.publish(envelope.route.curr, JSON.stringify(envelope));

  test('processes a push, sends the result and acknowledges', async () => {
    const host = await stage.host('score');
    await stage.subscribe('score', host);
    const envelopes = Array.from({ length: 20 }, (_, value) => envelopeAt('score', { value }));
    await Promise.all(envelopes.map(send));
    for (const [value, { id }] of envelopes.entries())
      expect(await stage.receive('x-sink', id)).toMatchObject({
        payload: value,
        route: { prev: ['score'], curr: '', next: [] },
        status: { phase: 'succeeded', reason: 'Completed' },
      });
    expect((await fetch(`${host.url}/healthz`)).status).toBe(200);
    expect((await fetch(host.url)).status).toBe(405);
    expect(await post(host.url, '{"message":{}}')).toMatchObject({ status: 400 });
    await linesFrom(host.process, saying('delivery'), 20);
    await pause(2_000);
    expect(host.process.lines.filter(saying('delivery')), 'one delivery for each envelope').toHaveLength(20);
  });

  test('rejects a push without a valid token of the configured account', async () => {
    const issuer = await aTokenIssuer();
    const { url, process } = await stage.host('guarded', {
      ASYA_PUSH_AUTH: 'oidc',
      ASYA_PUSH_AUDIENCE: AUDIENCE,
      ASYA_PUSH_SERVICE_ACCOUNT: PUSHER,
      ASYA_PUSH_JWKS_URL: issuer.url,
    });
    const envelope = envelopeAt('guarded', { value: 'mine' });
    const statusWith = async (token: string) =>
      (await post(url, pushOf(envelope), { authorization: `Bearer ${token}` })).status;
    expect((await post(url, pushOf(envelope))).status).toBe(401);
    expect(await statusWith(await issuer.forged())).toBe(401);
    expect(await statusWith(await issuer.token({ issuer: 'https://accounts.example.com' }))).toBe(401);
    expect(await statusWith(await issuer.token({ audience: 'https://other.example.com' }))).toBe(401);
    expect(await statusWith(await issuer.token({ expiresInSeconds: -120 }))).toBe(401);
    expect(
      await statusWith(await issuer.token({ claims: { email: 'eve@shop.iam.gserviceaccount.com' } })),
    ).toBe(403);
    expect(process.lines.filter(saying('delivery'))).toEqual([]);
    expect(await statusWith(await issuer.token())).toBe(204);
    expect(await stage.receive('x-sink', envelope.id)).toMatchObject({ payload: 'mine' });
    expect(await linesFrom(process, saying('delivery'), 1)).toHaveLength(1);
  });

  test('answers 503 when a send is refused, and Pub/Sub redelivers until the send succeeds', async () => {
    const host = await stage.host('patient');
    await stage.subscribe('patient', host);
    const route = { prev: [], curr: 'patient', next: ['later-there'] };
    const envelope = envelopeAt('patient', { value: 1 }, { route });
    await send(envelope);
    await host.process.untilLine((line) => line['settle'] === 'release', 60_000);
    await stage.pubsub.topic('later-there');
    await stage.pubsub.subscription('later-there');
    expect(await stage.receive('later-there', envelope.id)).toMatchObject({ payload: 1 });
  });

  test('leaves an envelope that can never be sent to the dead-letter topic, unchanged', async () => {
    const host = await stage.host('doomed');
    await stage.subscribe('doomed', host);
    const route = { prev: [], curr: 'doomed', next: ['never-there'] };
    const envelope = envelopeAt('doomed', { value: 1 }, { route });
    await send(envelope);
    expect(await stage.receive('doomed-dlq', envelope.id, 120_000)).toEqual(envelope);
    expect(await linesFrom(host.process, (line) => line['settle'] === 'release', 5)).toHaveLength(5);
  });

  test('kills the runtime of a call that hangs, and uses a new one for the next call', async () => {
    const pidFile = join(stage.folder, 'hanging.pid');
    const host = await stage.host('hanging', { ASYA_RESILIENCY_ACTOR_TIMEOUT: '6s', PID_FILE: pidFile });
    await stage.subscribe('hanging', host);
    const hanging = envelopeAt('hanging', { do: 'spin' });
    await send(hanging);
    expect(await stage.receive('x-sink', hanging.id)).toMatchObject({
      status: { phase: 'failed', reason: 'ActorTimeout' },
    });
    const [first = 0] = pidsIn(pidFile);
    await until(() => !isAlive(first), 'the runtime has ended');
    const next = envelopeAt('hanging', { value: 'well' });
    await send(next);
    expect(await stage.receive('x-sink', next.id)).toMatchObject({ payload: 'well' });
    expect(pidsIn(pidFile).length).toBeGreaterThan(1);
  });

  test('exits after the ack when a runtime in a second container hangs', async () => {
    const runtime = startShell(pythonRuntime('behaviours.handle'), {
      ASYA_RUNTIME_URL: 'http://127.0.0.1:0/invoke',
    });
    const port = () => / is ready at .*\(port (\d+)\)/.exec(runtime.errorOutput())?.[1];
    await until(() => port() !== undefined, 'the runtime is ready');
    const host = await stage.host('paired', {
      ASYA_RUNTIME_URL: `http://127.0.0.1:${port()}/invoke`,
      ASYA_RESILIENCY_ACTOR_TIMEOUT: '5s',
    });
    const well = envelopeAt('paired', { value: 'well' });
    expect(await post(host.url, pushOf(well))).toMatchObject({ status: 204 });
    expect(await stage.receive('x-sink', well.id)).toMatchObject({ payload: 'well' });
    const hanging = envelopeAt('paired', { do: 'hang' });
    expect(await post(host.url, pushOf(hanging))).toMatchObject({ status: 204 });
    expect(await host.process.untilExit()).toEqual({ code: 1, signal: null });
    expect(await stage.receive('x-sink', hanging.id)).toMatchObject({ status: { reason: 'ActorTimeout' } });
  });

  test('answers 429 when a push would have to wait too long for a slot', async () => {
    const host = await stage.host('busy', {
      ASYA_PUSH_ACK_DEADLINE: '60',
      ASYA_RESILIENCY_ACTOR_TIMEOUT: '55s',
      ASYA_LOG_LEVEL: 'debug',
    });
    const slow = envelopeAt('busy', { do: 'sleep', seconds: 8 });
    const answering = post(host.url, pushOf(slow));
    await host.process.untilLine(saying('call'));
    const waiting = envelopeAt('busy', { value: 1 });
    expect(await post(host.url, pushOf(waiting))).toMatchObject({ status: 429 });
    expect(await answering).toMatchObject({ status: 204 });
    expect(await post(host.url, pushOf(waiting))).toMatchObject({ status: 204 });
  });

  test('on SIGTERM, finishes short calls, returns long ones unchanged, and rejects new pushes', async () => {
    await stage.pubsub.topic('leaving');
    await stage.pubsub.subscription('leaving');
    const pidFile = join(stage.folder, 'leaving.pid');
    const host = await stage.host('leaving', {
      ASYA_CONCURRENCY: '2',
      ASYA_GRACE_PERIOD: '6s',
      ASYA_LOG_LEVEL: 'debug',
      PID_FILE: pidFile,
    });
    const short = envelopeAt('leaving', { do: 'sleep', seconds: 1 });
    const long = envelopeAt('leaving', { do: 'sleep', seconds: 60 });
    const answering = [post(host.url, pushOf(short)), post(host.url, pushOf(long))];
    await until(() => host.process.lines.filter(saying('call')).length === 2, 'both are called');
    host.process.signal('SIGTERM');
    await host.process.untilLine(saying('draining'));
    expect(await post(host.url, pushOf(envelopeAt('leaving', { value: 1 })))).toMatchObject({ status: 503 });
    expect((await Promise.all(answering)).map(({ status }) => status)).toEqual([204, 204]);
    expect(await host.process.untilExit(60_000)).toEqual({ code: 0, signal: null });
    expect(await stage.receive('x-sink', short.id)).toMatchObject({ payload: 'slept' });
    expect(await stage.receive('leaving', long.id)).toEqual(long);
    expect(pidsIn(pidFile).map(isAlive)).toEqual([false]);
  });

  test('runs the crew: x-dlq archives a message of a dead-letter topic', async () => {
    const embedded = await startEmbeddedStores();
    try {
      const host = await stage.host('x-dlq', { ...embedded.variables, ASYA_TRANSPORT: 'pubsub' });
      await stage.pubsub.topic('lost-dlq');
      await stage.pubsub.subscription('lost-dlq', { pushTo: host.url });
      const envelope = envelopeAt('lost', { value: 1 });
      await stage.pubsub.publish('lost-dlq', JSON.stringify(envelope));
      expect(await host.process.untilLine(saying('delivery'), 60_000)).toMatchObject({ settle: 'ack' });
      host.process.signal('SIGTERM');
      expect(await host.process.untilExit()).toEqual({ code: 0, signal: null });
      const key = (await embedded.keys()).find((one) => one.endsWith(`/${envelope.id}.json`)) ?? '';
      expect(key).toMatch(/^dlq\/.*\/lost\//);
      expect(JSON.parse(await embedded.object(key))).toMatchObject({
        payload: { value: 1 },
        status: { phase: 'failed', reason: 'DeliveryExhausted' },
      });
    } finally {
      await embedded.close();
    }
  });

  test('sends a retry to the delayer, which publishes it after the delay', async () => {
    for (const topic of ['me-pubsub-delayer', 'sending-mg-errors']) await stage.pubsub.topic(topic);
    await stage.pubsub.subscription('sending-mg-errors');
    const delayer = startDelayer({
      DELAYER_PROJECT_ID: PROJECT,
      DELAYER_ENGINE: 'timer-file',
      DELAYER_TIMER_FILE: join(await temporaryFolder(), 'timers.db'),
      DELAYER_PUBSUB_ENDPOINT: stage.pubsub.url,
      DELAYER_PUSH_AUTH: 'none',
    });
    await stage.pubsub.subscription('me-pubsub-delayer', { pushTo: await urlOf(delayer) });
    const host = await stage.host('retrying', {
      ASYA_RESILIENCY_POLICIES: '{"default":{"maxAttempts":3,"initialDelay":"1s","backoff":"constant"}}',
    });
    await stage.subscribe('retrying', host);
    const counter = join(stage.folder, 'retrying.count');
    const payload = { do: 'raise', error: 'ValueError', counter, times: 2, value: 'at last' };
    const envelope = envelopeAt('retrying', payload);
    await send(envelope);
    expect(await stage.receive('x-sink', envelope.id, 90_000)).toMatchObject({
      payload: 'at last',
      status: { phase: 'succeeded' },
    });
    expect(readFileSync(counter, 'utf8')).toBe('xxx');
    expect(await linesFrom(delayer, saying('scheduled'), 2)).toHaveLength(2);
    expect(await stage.pubsub.rest('sending-mg-errors')).toEqual([]);
  });
});
