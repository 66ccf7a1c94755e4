import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RabbitMqTransportOptions } from '../../../lib/adapters/rabbitmq/rabbitmq-transport.ts';
import type { Transport } from '../../../lib/ports/transport.ts';
import {
  CLOCK_SLACK_MS,
  deliveriesOf,
  OK,
  receiveNothing,
  receiveOne,
  receiveRefusal,
  receiveSome,
  sendAll,
  textOf,
  untilAccepted,
} from '../../contract/law.ts';
import { type RabbitMqAdmin, rabbitMqAdmin } from '../../support/rabbitmq-admin.ts';
import { type RabbitMqBroker, rabbitMqAbsence, startRabbitMq } from '../../support/rabbitmq-broker.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { aRabbitMqTransport, newQueue } from './a-rabbitmq-transport.ts';

/** Behaviour that is specific to RabbitMQ and not part of the transport contract. */

const absence = rabbitMqAbsence();
if (absence !== undefined) console.log(`the RabbitMQ transport: skipped, because ${absence}`);

/** Longer than the broker usually takes to start. */
const DELAY_MS = 20_000;
/** Longer than the steps of a test take on a busy machine. The tests that wait for its end run concurrently. */
const PAUSE_MS = 12_000;

describe.skipIf(absence !== undefined)('the RabbitMQ transport', { timeout: 120_000 }, () => {
  let broker: RabbitMqBroker;
  let admin: RabbitMqAdmin;
  let delayedArrival: Promise<{ readonly bodies: readonly string[]; readonly afterMs: number }>;
  const transports: Transport[] = [];
  beforeAll(async () => {
    broker = await startRabbitMq();
    admin = rabbitMqAdmin(broker.url);
    // Started now, because it takes as long as all the other tests.
    const sent = await sendBeforeACrash();
    delayedArrival = arrivalOf(sent);
    // The test that awaits it reports the rejection.
    delayedArrival.catch(() => {});
  }, 360_000);
  afterAll(async () => {
    await Promise.all(transports.map((transport) => transport.close()));
    await admin?.close();
    await broker?.close();
  }, 60_000);

  function transport(options: Partial<RabbitMqTransportOptions> = {}): Transport {
    const made = aRabbitMqTransport({ url: broker.url, ...options });
    transports.push(made);
    return made;
  }

  async function sendBeforeACrash(): Promise<{ readonly queue: string; readonly sentAt: number }> {
    const one = transport({ delay: 'ttl' });
    const queue = await newQueue(one);
    const sentAt = Date.now();
    expect(await one.sendWithDelay(queue, '"delayed"', DELAY_MS)).toEqual(OK);
    await broker.kill();
    await broker.start();
    return { queue, sentAt };
  }

  async function arrivalOf({ queue, sentAt }: { readonly queue: string; readonly sentAt: number }) {
    // A message that expires while the broker starts may take three more minutes, until the broker retries.
    for (const until = Date.now() + 240_000; Date.now() < until; await pause(200)) {
      const bodies = await admin.take(queue);
      if (bodies.length > 0) return { bodies, afterMs: Date.now() - sentAt };
    }
    throw new Error(`no message arrived in ${queue}`);
  }

  // They mostly wait, and each has its own queue.
  describe.concurrent('concurrent', () => {
    test('delivers other messages during the pause of a released one, even with a prefetch of 1', async () => {
      const one = transport({ prefetch: 1 });
      const queue = await newQueue(one);
      await sendAll(one, queue, ['"a"', '"b"', '"c"', '"d"']);
      const releasedAt = Date.now();
      for (const body of ['"a"', '"b"', '"c"']) {
        const delivery = await receiveOne(one, queue);
        expect(textOf(delivery)).toBe(body);
        expect(await one.nack(delivery, PAUSE_MS)).toEqual(OK);
      }
      const last = await receiveOne(one, queue);
      expect(textOf(last)).toBe('"d"');
      expect(await one.ack(last)).toEqual(OK);
      const again: string[] = [];
      while (again.length < 3) {
        const delivery = await receiveOne(one, queue);
        expect(Date.now() - releasedAt).toBeGreaterThanOrEqual(PAUSE_MS - CLOCK_SLACK_MS);
        expect(delivery.receiveCount).toBe(2);
        expect(await one.ack(delivery)).toEqual(OK);
        again.push(textOf(delivery));
      }
      expect(again.toSorted()).toEqual(['"a"', '"b"', '"c"']);
    });

    test('does not redeliver a paused delivery that was acknowledged', async () => {
      const one = transport();
      const queue = await newQueue(one);
      await sendAll(one, queue, ['"settled twice"']);
      const delivery = await receiveOne(one, queue);
      expect(await one.nack(delivery, PAUSE_MS)).toEqual(OK);
      expect(await one.ack(delivery)).toEqual(OK);
      await receiveNothing(one, queue, PAUSE_MS + 1_000);
    });

    test('returns prefetched messages when a receive is aborted, and can still settle received ones', async () => {
      const [one, other] = [transport({ waitMs: 60_000 }), transport()];
      const queue = await newQueue(one);
      await sendAll(one, queue, ['1', '2', '3', '4']);
      const stop = new AbortController();
      const [first, ...more] = deliveriesOf(await one.receive(queue, 1, stop.signal));
      expect(more).toEqual([]);
      stop.abort();
      const others = await receiveSome(other, queue, 3);
      expect(others.map(textOf).toSorted()).toEqual(['2', '3', '4']);
      if (first === undefined) throw new Error('no delivery was received');
      expect(await one.ack(first)).toEqual(OK);
      await Promise.all(others.map((delivery) => other.ack(delivery)));
      await one.close();
      await receiveNothing(other, queue, 0);
      expect(await admin.depth(queue)).toBe(0);
    });

    test('delivers messages of other senders unchanged, with a stable id', async () => {
      const one = transport();
      const queue = await newQueue(one);
      const bytes = new Uint8Array([0x7b, 0xff, 0x00, 0x7d]);
      await admin.send(queue, bytes);
      const first = await receiveOne(one, queue);
      expect(new Uint8Array(first.body as Uint8Array)).toEqual(bytes);
      expect(first.messageId).not.toBe('');
      await one.nack(first, 0);
      expect((await receiveOne(one, queue)).messageId).toBe(first.messageId);
    });

    test('sends a delayed message after its delay queue was deleted', async () => {
      const one = transport({ delay: 'ttl' });
      const queue = await newQueue(one);
      expect(await one.sendWithDelay(queue, '"before"', 100)).toEqual(OK);
      expect(textOf(await receiveOne(one, queue))).toBe('"before"');
      await admin.deleteQueue(`${queue}.delay.100ms`);
      expect(await one.sendWithDelay(queue, '"after"', 100)).toEqual(OK);
      expect(textOf(await receiveOne(one, queue))).toBe('"after"');
    });

    test('refuses a delayed send if delays are off, and names the setting', async () => {
      const one = transport();
      const queue = await newQueue(one);
      const reply = await one.sendWithDelay(queue, '1', 1);
      expect(reply).toEqual({ ok: false, problem: expect.stringContaining('ASYA_RABBITMQ_DELAY=ttl') });
    });

    test('reports missing queues after the exchange was deleted, until ensureQueue restores them', async () => {
      const one = transport({ exchange: 'short-lived' });
      const queue = await newQueue(one);
      await sendAll(one, queue, ['1']);
      await broker.evaluate(
        'rabbit_exchange:delete(rabbit_misc:r(<<"/">>, exchange, <<"short-lived">>), false, <<"t">>)',
      );
      const missing = { ok: false, problem: expect.any(String), isQueueMissing: true };
      expect(await one.send(queue, '2')).toEqual(missing);
      expect(await one.send(queue, '2')).toEqual(missing);
      expect(await one.ensureQueue(queue)).toEqual(OK);
      expect(await one.send(queue, '3')).toEqual(OK);
      expect((await receiveSome(one, queue, 2)).map(textOf)).toEqual(['1', '3']);
    });

    test('close() does not wait for a dead connection', async () => {
      const proxy = await startTcpProxy(broker.port);
      const one = transport({ url: `amqp://guest:guest@127.0.0.1:${proxy.port}/` });
      const queue = await newQueue(one);
      await sendAll(one, queue, ['1']);
      const delivery = await receiveOne(one, queue);
      proxy.freeze();
      const settling = one.ack(delivery);
      await one.close();
      expect((await settling).ok).toBe(false);
      await proxy.close();
    });

    test('reports why a login was refused, without the password', async () => {
      const url = broker.url.replace('guest:guest', 'guest:not-the-password');
      const reply = await receiveRefusal(transport({ url }), 'anything');
      expect(reply).toEqual({ ok: false, problem: expect.stringMatching(/ACCESS.REFUSED/) });
      expect(JSON.stringify(reply)).not.toContain('not-the-password');
    });
  });

  test('refuses sends while the broker is low on memory, and still acknowledges', async () => {
    const one = transport();
    const queue = await newQueue(one);
    await sendAll(one, queue, ['"before"']);
    const delivery = await receiveOne(one, queue);
    await broker.evaluate(memoryLimit(0.00001));
    try {
      // The broker reports the alarm only to connections that publish.
      const waiting = one.send(queue, '"meanwhile"');
      let problem = '';
      for (
        const until = Date.now() + 60_000;
        !problem.includes('accepts no messages') && Date.now() < until;
      ) {
        const reply = await Promise.race([one.send(queue, '"refused"'), pause(200)]);
        problem = reply === undefined || reply.ok ? '' : reply.problem;
      }
      expect(problem).toContain('accepts no messages');
      expect(await one.ack(delivery)).toEqual(OK);
      await broker.evaluate(memoryLimit(0.9));
      await waiting;
    } finally {
      await broker.evaluate(memoryLimit(0.9));
    }
    // The broker reports the end of the alarm after it accepts messages again.
    await untilAccepted(() => one.send(queue, '"after"'));
  });

  test('keeps a delayed message when the broker crashes', { timeout: 400_000 }, async () => {
    const { bodies, afterMs } = await delayedArrival;
    expect(bodies).toEqual(['"delayed"']);
    expect(afterMs).toBeGreaterThanOrEqual(DELAY_MS - CLOCK_SLACK_MS);
  });
});

/** An Erlang expression that sets the fraction of the machine's memory that the broker may use. */
function memoryLimit(part: number): string {
  return `vm_memory_monitor:set_vm_memory_high_watermark(${part.toFixed(5)})`;
}

function pause(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), milliseconds));
}
