import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PubsubEmulator } from '../../lib/local/engines/pubsub-emulator.ts';
import { endProcesses, pause, temporaryFolder, until } from '../sidecar/sidecar-process.ts';
import { PROJECT, PUBSUB_ABSENCE, startPubsub } from '../support/pubsub.ts';
import { type PubsubRest, pubsubRest } from '../support/pubsub-rest.ts';
import { anHttpServer } from './a-http-server.ts';
import { delayAttributes, post, startDelayer, urlOf } from './delayer-process.ts';

/** The delayer with Google's Pub/Sub emulator, and a timer file instead of Cloud Tasks. */

if (PUBSUB_ABSENCE !== undefined) console.log(`the delayer on Pub/Sub: skipped, because ${PUBSUB_ABSENCE}`);

const DELAYER_TOPIC = 'me-pubsub-delayer';

describe.skipIf(PUBSUB_ABSENCE !== undefined)('the delayer on Pub/Sub', { timeout: 120_000 }, () => {
  let emulator: PubsubEmulator;
  let pubsub: PubsubRest;
  /** How many of the next answers of the delayer do not reach Pub/Sub. */
  let lostAnswers = 0;
  const answers: number[] = [];

  beforeAll(async () => {
    emulator = await startPubsub();
    pubsub = pubsubRest(emulator);
    const delayer = startDelayer({
      DELAYER_PROJECT_ID: PROJECT,
      DELAYER_ENGINE: 'timer-file',
      DELAYER_TIMER_FILE: join(await temporaryFolder(), 'timers.db'),
      DELAYER_PUBSUB_ENDPOINT: pubsub.url,
      DELAYER_PUSH_AUTH: 'none',
    });
    const url = await urlOf(delayer);
    const proxy = await anHttpServer(async ({ text }) => {
      const { status, text: body } = await post(url, text);
      answers.push(status);
      if (lostAnswers > 0) {
        lostAnswers--;
        return { status: 502, body: 'lost on the way' };
      }
      return { status, body };
    });
    for (const topic of [DELAYER_TOPIC, 'orders', 'sending-mg-errors']) await pubsub.topic(topic);
    for (const topic of ['orders', 'sending-mg-errors']) await pubsub.subscription(topic);
    await pubsub.subscription(DELAYER_TOPIC, { pushTo: proxy.url });
  }, 120_000);

  afterAll(async () => {
    await endProcesses();
    await emulator?.close();
  });

  test('publishes a message to its topic after the delay, with its attributes', async () => {
    const publishedAt = Date.now();
    await pubsub.publish(DELAYER_TOPIC, 'in two seconds', {
      ...delayAttributes('2s'),
      retryCount: '3',
      customer: '\u00fc',
    });
    const arrived = await pubsub.next('orders');
    expect(arrived).toMatchObject({
      data: 'in two seconds',
      attributes: { retryCount: '3', customer: '\u00fc' },
    });
    expect(Object.keys(arrived.attributes)).toHaveLength(2);
    // Both times are from this machine's clock; the emulator truncates publish times to milliseconds.
    expect(arrived.publishMs).toBeGreaterThanOrEqual(publishedAt + 1_999);
  });

  test('publishes a message once, even if Pub/Sub delivers it to the delayer several times', async () => {
    lostAnswers = 2;
    const before = answers.length;
    await pubsub.publish(DELAYER_TOPIC, 'only once', delayAttributes('4s'));
    await until(() => answers.length >= before + 3, 'delivered three times', 60_000);
    expect(answers.slice(before)).toEqual([204, 204, 204]);
    expect(await pubsub.next('orders')).toMatchObject({ data: 'only once' });
    await pause(3_000);
    expect(await pubsub.rest('orders')).toEqual([]);
  });

  test('publishes a message with an invalid delay to the errors topic, with its data and attributes', async () => {
    const id = await pubsub.publish(DELAYER_TOPIC, 'whenever', {
      ...delayAttributes('whenever'),
      customer: '7',
    });
    expect(await pubsub.next('sending-mg-errors')).toMatchObject({
      data: 'whenever',
      attributes: {
        ...delayAttributes('whenever'),
        customer: '7',
        errorType: 'DelayRefused',
        errorReason: 'unreadable',
        errorMessageId: id,
        errorSubscription: `projects/${PROJECT}/subscriptions/${DELAYER_TOPIC}`,
      },
    });
    expect(await pubsub.rest('orders')).toEqual([]);
  });
});
