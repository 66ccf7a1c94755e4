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

/** What RabbitMQ alone does, beyond the contract of every transport. */

const absence = rabbitMqAbsence();
if (absence !== undefined) console.log(`the RabbitMQ transport: left out, because ${absence}`);

/** Longer than the broker takes to start, if it can be. */
const PATIENT_FOR_MS = 20_000;
/** Longer than what comes in it may take on a busy machine; whoever waits for its end does so beside the patient one. */
const REST_MS = 12_000;

describe.skipIf(absence !== undefined)('the RabbitMQ transport', { timeout: 120_000 }, () => {
  let broker: RabbitMqBroker;
  let admin: RabbitMqAdmin;
  let patient: Promise<{ readonly bodies: readonly string[]; readonly afterMs: number }>;
  const transports: Transport[] = [];
  beforeAll(async () => {
    broker = await startRabbitMq();
    admin = rabbitMqAdmin(broker.url);
    // Begun now, because it waits for as long as all the others take.
    const sent = await sendBeforeACrash();
    patient = arrivalOf(sent);
    // Whoever waits for it is told.
    patient.catch(() => {});
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
    expect(await one.sendWithDelay(queue, '"patient"', PATIENT_FOR_MS)).toEqual(OK);
    await broker.kill();
    await broker.start();
    return { queue, sentAt };
  }

  async function arrivalOf({ queue, sentAt }: { readonly queue: string; readonly sentAt: number }) {
    // What falls due while the broker starts may take three minutes more: only then does it try again.
    for (const until = Date.now() + 240_000; Date.now() < until; await nothingFor(200)) {
      const bodies = await admin.take(queue);
      if (bodies.length > 0) return { bodies, afterMs: Date.now() - sentAt };
    }
    throw new Error(`nothing came in ${queue}`);
  }

  // Most of their time is waiting, and each has a queue of its own.
  describe.concurrent('side by side', () => {
    test('a pause is held here, and keeps nobody else waiting, though only one is held at a time', async () => {
      const one = transport({ prefetch: 1 });
      const queue = await newQueue(one);
      await sendAll(one, queue, ['"a"', '"b"', '"c"', '"d"']);
      const releasedAt = Date.now();
      for (const body of ['"a"', '"b"', '"c"']) {
        const delivery = await receiveOne(one, queue);
        expect(textOf(delivery)).toBe(body);
        expect(await one.nack(delivery, REST_MS)).toEqual(OK);
      }
      const last = await receiveOne(one, queue);
      expect(textOf(last)).toBe('"d"');
      expect(await one.ack(last)).toEqual(OK);
      const again: string[] = [];
      while (again.length < 3) {
        const delivery = await receiveOne(one, queue);
        expect(Date.now() - releasedAt).toBeGreaterThanOrEqual(REST_MS - CLOCK_SLACK_MS);
        expect(delivery.receiveCount).toBe(2);
        expect(await one.ack(delivery)).toEqual(OK);
        again.push(textOf(delivery));
      }
      expect(again.toSorted()).toEqual(['"a"', '"b"', '"c"']);
    });

    test('a delivery in its pause can be acked, and then does not come again', async () => {
      const one = transport();
      const queue = await newQueue(one);
      await sendAll(one, queue, ['"settled twice"']);
      const delivery = await receiveOne(one, queue);
      expect(await one.nack(delivery, REST_MS)).toEqual(OK);
      expect(await one.ack(delivery)).toEqual(OK);
      await receiveNothing(one, queue, REST_MS + 1_000);
    });

    test('told to stop, it gives back what nobody took, and what was taken can still be settled', async () => {
      const [one, other] = [transport({ waitMs: 60_000 }), transport()];
      const queue = await newQueue(one);
      await sendAll(one, queue, ['1', '2', '3', '4']);
      const stop = new AbortController();
      const [first, ...more] = deliveriesOf(await one.receive(queue, 1, stop.signal));
      expect(more).toEqual([]);
      stop.abort();
      const others = await receiveSome(other, queue, 3);
      expect(others.map(textOf).toSorted()).toEqual(['2', '3', '4']);
      if (first === undefined) throw new Error('nothing came');
      expect(await one.ack(first)).toEqual(OK);
      await Promise.all(others.map((delivery) => other.ack(delivery)));
      await one.close();
      await receiveNothing(other, queue, 0);
      expect(await admin.depth(queue)).toBe(0);
    });

    test('messages of other senders come as they are, under an id that stays the same', async () => {
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

    test('a delay whose queue somebody deleted is kept all the same', async () => {
      const one = transport({ delay: 'ttl' });
      const queue = await newQueue(one);
      expect(await one.sendWithDelay(queue, '"before"', 100)).toEqual(OK);
      expect(textOf(await receiveOne(one, queue))).toBe('"before"');
      await admin.deleteQueue(`${queue}.delay.100ms`);
      expect(await one.sendWithDelay(queue, '"after"', 100)).toEqual(OK);
      expect(textOf(await receiveOne(one, queue))).toBe('"after"');
    });

    test('without delays one is refused, with what to set', async () => {
      const one = transport();
      const queue = await newQueue(one);
      const reply = await one.sendWithDelay(queue, '1', 1);
      expect(reply).toEqual({ ok: false, problem: expect.stringContaining('ASYA_RABBITMQ_DELAY=ttl') });
    });

    test('an exchange that is deleted comes back, and its queues with ensureQueue', async () => {
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

    test('close() does not wait for a silent network', async () => {
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

    test('who may not enter is told why, without the password', async () => {
      const url = broker.url.replace('guest:guest', 'guest:not-the-password');
      const reply = await receiveRefusal(transport({ url }), 'anything');
      expect(reply).toEqual({ ok: false, problem: expect.stringMatching(/ACCESS.REFUSED/) });
      expect(JSON.stringify(reply)).not.toContain('not-the-password');
    });
  });

  test('a broker that is short of memory refuses sends, and acks go on', async () => {
    const one = transport();
    const queue = await newQueue(one);
    await sendAll(one, queue, ['"before"']);
    const delivery = await receiveOne(one, queue);
    await broker.evaluate(memoryFor(0.00001));
    try {
      // The first that is sent then tells the broker whom to tell.
      const waiting = one.send(queue, '"meanwhile"');
      let problem = '';
      for (
        const until = Date.now() + 60_000;
        !problem.includes('accepts no messages') && Date.now() < until;
      ) {
        const reply = await Promise.race([one.send(queue, '"refused"'), nothingFor(200)]);
        problem = reply === undefined || reply.ok ? '' : reply.problem;
      }
      expect(problem).toContain('accepts no messages');
      expect(await one.ack(delivery)).toEqual(OK);
      await broker.evaluate(memoryFor(0.9));
      await waiting;
    } finally {
      await broker.evaluate(memoryFor(0.9));
    }
    // The broker tells later than it takes messages again.
    await untilAccepted(() => one.send(queue, '"after"'));
  });

  test('what waits for its delay survives the broker', { timeout: 400_000 }, async () => {
    const { bodies, afterMs } = await patient;
    expect(bodies).toEqual(['"patient"']);
    expect(afterMs).toBeGreaterThanOrEqual(PATIENT_FOR_MS - CLOCK_SLACK_MS);
  });
});

/** The part of the machine's memory that the broker may use. */
function memoryFor(part: number): string {
  return `vm_memory_monitor:set_vm_memory_high_watermark(${part.toFixed(5)})`;
}

function nothingFor(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), milliseconds));
}
