import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type PubsubClient, pubsubClient } from '../../../lib/adapters/pubsub/pubsub-client.ts';
import { pubsubTransport } from '../../../lib/adapters/pubsub/pubsub-transport.ts';
import { DELAY, DELAYED_TOPIC } from '../../../lib/core/pipeline/delayer.ts';
import type { PubsubEmulator } from '../../../lib/local/engines/pubsub-emulator.ts';
import type { Transport } from '../../../lib/ports/transport.ts';
import { CLOCK_SLACK_MS, receiveOne, receiveSome, textOf } from '../../contract/law.ts';
import { PROJECT, PUBSUB_ABSENCE, startPubsub } from '../../support/pubsub.ts';

/** Behaviour that is specific to Pub/Sub and not part of the transport contract. */

if (PUBSUB_ABSENCE !== undefined) console.log(`the Pub/Sub transport: skipped, because ${PUBSUB_ABSENCE}`);

const OK = { ok: true };

describe.skipIf(PUBSUB_ABSENCE !== undefined)('the Pub/Sub transport', { timeout: 120_000 }, () => {
  let emulator: PubsubEmulator;
  let client: PubsubClient;
  beforeAll(async () => {
    emulator = await startPubsub();
    client = await pubsubClient({ projectId: PROJECT, endpoint: emulator.endpoint });
  }, 200_000);
  afterAll(async () => {
    await client.close();
    await emulator.close();
  });

  let count = 0;
  const newName = () => `queue-${++count}`;

  async function transportWith(delayerTopic = newName()): Promise<Transport> {
    const transport = pubsubTransport({
      client: await pubsubClient({ projectId: PROJECT, endpoint: emulator.endpoint }),
      visibilityMs: 30_000,
      waitMs: 1_000,
      delayerTopic,
    });
    onTestFinished(() => transport.close());
    return transport;
  }

  async function ackDeadlineOf(subscription: string): Promise<number | null | undefined> {
    const name = `projects/${PROJECT}/subscriptions/${subscription}`;
    return (await client.subscriber.getSubscription({ subscription: name }))[0].ackDeadlineSeconds;
  }

  describe('a delayed send', () => {
    test('is published to the delayer with its delay and its topic', async () => {
      const [queue, delayer] = [newName(), newName()];
      const transport = await transportWith(delayer);
      await transport.ensureQueue(queue);
      await transport.ensureQueue(delayer);
      expect(await transport.sendWithDelay(queue, '{"n":1}', 92_000.4)).toEqual(OK);
      const [{ receivedMessages }] = await client.subscriber.pull({
        subscription: `projects/${PROJECT}/subscriptions/${delayer}`,
        maxMessages: 10,
      });
      const messages = receivedMessages?.map(({ message }) => ({
        data: String(message?.data),
        attributes: message?.attributes,
      }));
      expect(messages).toEqual([
        { data: '{"n":1}', attributes: { [DELAY]: '92001ms', [DELAYED_TOPIC]: queue } },
      ]);
    });

    test('with a delay of 0 is sent directly, without a delayer', async () => {
      const queue = newName();
      const transport = await transportWith();
      await transport.ensureQueue(queue);
      expect(await transport.sendWithDelay(queue, '"now"', 0)).toEqual(OK);
      expect(textOf(await receiveOne(transport, queue))).toBe('"now"');
    });

    test('is refused without a delayer, but not as a missing queue', async () => {
      const [queue, delayer] = [newName(), newName()];
      const transport = await transportWith(delayer);
      await transport.ensureQueue(queue);
      const refused = {
        ok: false,
        problem: expect.stringMatching(`^the delayer is not available.*"${delayer}"`),
      };
      expect(await transport.sendWithDelay(queue, '1', 1_000)).toEqual(refused);
      // A delayer topic without a subscription is not enough.
      await client.publisher.topic(delayer).create();
      expect(await transport.sendWithDelay(queue, '1', 1_000)).toEqual(refused);
    });

    test('reports a missing queue', async () => {
      const delayer = newName();
      const transport = await transportWith(delayer);
      await transport.ensureQueue(delayer);
      expect(await transport.sendWithDelay(newName(), '1', 1_000)).toMatchObject({ isQueueMissing: true });
    });

    test('is refused if it is too large for Cloud Tasks, even if Pub/Sub would accept it', async () => {
      const [queue, delayer] = [newName(), newName()];
      const transport = await transportWith(delayer);
      await transport.ensureQueue(queue);
      await transport.ensureQueue(delayer);
      const body = `"${'x'.repeat(800_000)}"`;
      expect(await transport.sendWithDelay(queue, body, 1_000)).toEqual({
        ok: false,
        problem: 'the message has 800002 bytes; the delayer accepts at most 740000',
      });
      expect(await transport.send(queue, body)).toEqual(OK);
    });
  });

  describe('a send to a topic', () => {
    test('is refused until the topic has a subscription, because Pub/Sub would drop the message', async () => {
      const queue = newName();
      const transport = await transportWith();
      await client.publisher.topic(queue).create();
      expect(await transport.send(queue, '1')).toEqual({
        ok: false,
        problem: expect.stringMatching(/no subscription/),
        isQueueMissing: true,
      });
      expect(await transport.ensureQueue(queue)).toEqual(OK);
      expect(await transport.send(queue, '"received"')).toEqual(OK);
      expect(textOf(await receiveOne(transport, queue))).toBe('"received"');
    });

    test('is accepted if the subscription has another name, as for an escalation topic', async () => {
      const [topic, subscription] = [newName(), newName()];
      await client.publisher.topic(topic).create();
      await client.publisher.topic(topic).createSubscription(subscription);
      const transport = await transportWith();
      expect(await transport.send(topic, '"escalated"')).toEqual(OK);
    });
  });

  test('reports a subscription whose topic was deleted as a missing queue, and does not replace it', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    await client.publisher.topic(queue).delete();
    const problem = expect.stringMatching(/topic was deleted.*drain the subscription, then delete it/);
    expect(await transport.checkQueue(queue)).toEqual({ ok: false, problem, isQueueMissing: true });
    expect(await transport.ensureQueue(queue)).toEqual({ ok: false, problem });
  });

  test('redelivers a released delivery after its pause', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    await transport.send(queue, '"paused"');
    const first = await receiveOne(transport, queue);
    const releasedAt = Date.now();
    expect(await transport.nack(first, 2_500)).toEqual(OK);
    expect(textOf(await receiveOne(transport, queue))).toBe('"paused"');
    expect(Date.now() - releasedAt).toBeGreaterThanOrEqual(2_500 - CLOCK_SLACK_MS);
  });

  test('delivers other messages during the pause of a released one', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    await transport.send(queue, '"paused"');
    expect(await transport.nack(await receiveOne(transport, queue), 600_000)).toEqual(OK);
    await transport.send(queue, '"other"');
    expect(textOf(await receiveOne(transport, queue))).toBe('"other"');
  });

  test('accepts a pause above the limit of Pub/Sub', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    await transport.send(queue, '1');
    expect(await transport.nack(await receiveOne(transport, queue), 900_000)).toEqual(OK);
  });

  test('creates queues with an ack deadline within the limits of Pub/Sub', async () => {
    const deadlineWith = async (visibilityMs: number) => {
      const queue = newName();
      const transport = pubsubTransport({ client, visibilityMs, delayerTopic: 'none' });
      await transport.ensureQueue(queue);
      return ackDeadlineOf(queue);
    };
    expect([await deadlineWith(2_000), await deadlineWith(77_500), await deadlineWith(3_600_000)]).toEqual([
      10, 78, 600,
    ]);
  });

  test('delivers bytes that are not UTF-8 unchanged', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    const bytes = Buffer.from([0, 255, 128, 10]);
    await client.publisher.topic(queue).publishMessage({ data: bytes });
    const [delivery] = await receiveSome(transport, queue, 1);
    expect(Buffer.from(delivery?.body as Uint8Array)).toEqual(bytes);
  });

  test('refuses all calls after close(), without throwing', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    await transport.close();
    expect(await transport.send(queue, '1')).toMatchObject({ ok: false });
    expect(await transport.checkQueue(queue)).toMatchObject({ ok: false });
    expect(await transport.receive(queue, 1, new AbortController().signal)).toMatchObject({ ok: false });
  });
});
