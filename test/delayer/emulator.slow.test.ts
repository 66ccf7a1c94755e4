import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PubsubEmulator } from '../../lib/local/engines/pubsub-emulator.ts';
import { endProcesses, pause, temporaryFolder, until } from '../sidecar/sidecar-process.ts';
import { PROJECT, PUBSUB_ABSENCE, startPubsub } from '../support/pubsub.ts';
import { type PubsubRest, pubsubRest } from '../support/pubsub-rest.ts';
import { anHttpServer } from './a-http-server.ts';
import { asking, listeningAt, post, startDelayer } from './delayer-process.ts';

/** The delayer between topics of Google's own emulator, with a file of timers in place of Cloud Tasks. */

if (PUBSUB_ABSENCE !== undefined) console.log(`the delayer on Pub/Sub: skipped, because ${PUBSUB_ABSENCE}`);

const DELAYER_TOPIC = 'me-pubsub-delayer';

describe.skipIf(PUBSUB_ABSENCE !== undefined)('the delayer on Pub/Sub', { timeout: 120_000 }, () => {
  let emulator: PubsubEmulator;
  let pubsub: PubsubRest;
  /** How many pushes the delayer's answer is kept from, though it gave one. */
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
    const url = await listeningAt(delayer);
    const between = await anHttpServer(async ({ text }) => {
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
    await pubsub.subscription(DELAYER_TOPIC, { pushTo: between.url });
  }, 120_000);

  afterAll(async () => {
    await endProcesses();
    await emulator?.close();
  });

  test('a message arrives on its topic no sooner than asked for, with its attributes', async () => {
    const publishedAt = Date.now();
    await pubsub.publish(DELAYER_TOPIC, 'in two seconds', {
      ...asking('2s'),
      retryCount: '3',
      customer: '\u00fc',
    });
    const arrived = await pubsub.next('orders');
    expect(arrived).toMatchObject({
      data: 'in two seconds',
      attributes: { retryCount: '3', customer: '\u00fc' },
    });
    expect(Object.keys(arrived.attributes)).toHaveLength(2);
    // Both clocks are this machine's; the emulator cuts a publish time to milliseconds.
    expect(arrived.publishMs).toBeGreaterThanOrEqual(publishedAt + 1_999);
  });

  test('once, also where Pub/Sub delivers it to the delayer again and again', async () => {
    lostAnswers = 2;
    const before = answers.length;
    await pubsub.publish(DELAYER_TOPIC, 'only once', asking('4s'));
    await until(() => answers.length >= before + 3, 'delivered three times', 60_000);
    expect(answers.slice(before)).toEqual([204, 204, 204]);
    expect(await pubsub.next('orders')).toMatchObject({ data: 'only once' });
    await pause(3_000);
    expect(await pubsub.rest('orders')).toEqual([]);
  });

  test('what cannot be read goes to the errors topic, whole', async () => {
    const id = await pubsub.publish(DELAYER_TOPIC, 'whenever', { ...asking('whenever'), customer: '7' });
    expect(await pubsub.next('sending-mg-errors')).toMatchObject({
      data: 'whenever',
      attributes: {
        ...asking('whenever'),
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
