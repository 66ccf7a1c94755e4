import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type PubsubClient, pubsubClient } from '../../../lib/adapters/pubsub/pubsub-client.ts';
import { pubsubTransport } from '../../../lib/adapters/pubsub/pubsub-transport.ts';
import { DELAY, DELAYED_TOPIC } from '../../../lib/core/pipeline/delayer.ts';
import type { PubsubEmulator } from '../../../lib/local/engines/pubsub-emulator.ts';
import type { Transport } from '../../../lib/ports/transport.ts';
import { CLOCK_SLACK_MS, receiveOne, receiveSome, textOf } from '../../contract/law.ts';
import { PROJECT, PUBSUB_ABSENCE, startPubsub } from '../../support/pubsub.ts';

/** What the contract does not ask, because it is Pub/Sub's alone. */

if (PUBSUB_ABSENCE !== undefined) console.log(`Pub/Sub's own ways: left out, because ${PUBSUB_ABSENCE}`);

const OK = { ok: true };

describe.skipIf(PUBSUB_ABSENCE !== undefined)('Pub/Sub', { timeout: 120_000 }, () => {
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

  async function deadlineSet(subscription: string): Promise<number | null | undefined> {
    const name = `projects/${PROJECT}/subscriptions/${subscription}`;
    return (await client.subscriber.getSubscription({ subscription: name }))[0].ackDeadlineSeconds;
  }

  describe('a delayed send', () => {
    test('goes to the delayer, with what it needs to know', async () => {
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

    test('of no delay is a plain one, and needs no delayer', async () => {
      const queue = newName();
      const transport = await transportWith();
      await transport.ensureQueue(queue);
      expect(await transport.sendWithDelay(queue, '"now"', 0)).toEqual(OK);
      expect(textOf(await receiveOne(transport, queue))).toBe('"now"');
    });

    test('without a delayer is refused: the queue is there, the way to it is not', async () => {
      const [queue, delayer] = [newName(), newName()];
      const transport = await transportWith(delayer);
      await transport.ensureQueue(queue);
      const refused = {
        ok: false,
        problem: expect.stringMatching(`^the delayer is not available.*"${delayer}"`),
      };
      expect(await transport.sendWithDelay(queue, '1', 1_000)).toEqual(refused);
      // A topic that nobody hears is no delayer either.
      await client.publisher.topic(delayer).create();
      expect(await transport.sendWithDelay(queue, '1', 1_000)).toEqual(refused);
    });

    test('to a missing queue is refused as such', async () => {
      const delayer = newName();
      const transport = await transportWith(delayer);
      await transport.ensureQueue(delayer);
      expect(await transport.sendWithDelay(newName(), '1', 1_000)).toMatchObject({ isQueueMissing: true });
    });

    test('of more than a task of Cloud Tasks holds is refused, though Pub/Sub would take it', async () => {
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

  describe('a topic that nobody hears', () => {
    test('would drop what is sent to it, so the send is refused, until somebody does', async () => {
      const queue = newName();
      const transport = await transportWith();
      await client.publisher.topic(queue).create();
      expect(await transport.send(queue, '1')).toEqual({
        ok: false,
        problem: expect.stringMatching(/no subscription/),
        isQueueMissing: true,
      });
      expect(await transport.ensureQueue(queue)).toEqual(OK);
      expect(await transport.send(queue, '"heard"')).toEqual(OK);
      expect(textOf(await receiveOne(transport, queue))).toBe('"heard"');
    });

    test("is heard also by a subscription of another name: a topic to escalate to is somebody else's", async () => {
      const [topic, subscription] = [newName(), newName()];
      await client.publisher.topic(topic).create();
      await client.publisher.topic(topic).createSubscription(subscription);
      const transport = await transportWith();
      expect(await transport.send(topic, '"escalated"')).toEqual(OK);
    });
  });

  test('a subscription whose topic was deleted is no queue, and is not made another', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    await client.publisher.topic(queue).delete();
    const problem = expect.stringMatching(/topic was deleted.*delete the subscription/);
    expect(await transport.reach(queue)).toEqual({ ok: false, problem, isQueueMissing: true });
    expect(await transport.ensureQueue(queue)).toEqual({ ok: false, problem });
  });

  test('a released delivery rests for its pause', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    await transport.send(queue, '"rests"');
    const first = await receiveOne(transport, queue);
    const releasedAt = Date.now();
    expect(await transport.nack(first, 2_500)).toEqual(OK);
    expect(textOf(await receiveOne(transport, queue))).toBe('"rests"');
    expect(Date.now() - releasedAt).toBeGreaterThanOrEqual(2_500 - CLOCK_SLACK_MS);
  });

  test('while one rests, others go on', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    await transport.send(queue, '"rests"');
    expect(await transport.nack(await receiveOne(transport, queue), 600_000)).toEqual(OK);
    await transport.send(queue, '"goes on"');
    expect(textOf(await receiveOne(transport, queue))).toBe('"goes on"');
  });

  test('a pause longer than Pub/Sub knows is as long as it can be', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    await transport.send(queue, '1');
    expect(await transport.nack(await receiveOne(transport, queue), 900_000)).toEqual(OK);
  });

  test('the ack deadline of a queue keeps to what Pub/Sub takes', async () => {
    const make = async (visibilityMs: number) => {
      const queue = newName();
      const transport = pubsubTransport({ client, visibilityMs, delayerTopic: 'none' });
      await transport.ensureQueue(queue);
      return deadlineSet(queue);
    };
    expect([await make(2_000), await make(77_500), await make(3_600_000)]).toEqual([10, 78, 600]);
  });

  test('bytes that are no text arrive as they are', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    const bytes = Buffer.from([0, 255, 128, 10]);
    await client.publisher.topic(queue).publishMessage({ data: bytes });
    const [delivery] = await receiveSome(transport, queue, 1);
    expect(Buffer.from(delivery?.body as Uint8Array)).toEqual(bytes);
  });

  test('a closed transport refuses, and throws nothing', async () => {
    const queue = newName();
    const transport = await transportWith();
    await transport.ensureQueue(queue);
    await transport.close();
    expect(await transport.send(queue, '1')).toMatchObject({ ok: false });
    expect(await transport.reach(queue)).toMatchObject({ ok: false });
    expect(await transport.receive(queue, 1, new AbortController().signal)).toMatchObject({ ok: false });
  });
});
