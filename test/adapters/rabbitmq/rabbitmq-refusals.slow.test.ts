import { randomUUID } from 'node:crypto';
import { type ConfirmChannel, connect } from 'amqplib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connectionTo } from '../../../lib/adapters/rabbitmq/connection.ts';
import { publisherOn } from '../../../lib/adapters/rabbitmq/publisher.ts';
import type { RabbitMqTransportOptions } from '../../../lib/adapters/rabbitmq/rabbitmq-transport.ts';
import type { Delivery, Transport } from '../../../lib/ports/transport.ts';
import { OK, receiveOne, receiveRefusal, sendAll, textOf, untilAccepted } from '../../contract/law.ts';
import { type RabbitMqBroker, rabbitMqAbsence, startRabbitMq } from '../../support/rabbitmq-broker.ts';
import { aRabbitMqTransport, newQueue } from './a-rabbitmq-transport.ts';

/** Whoever is refused is told why, and what was refused once is not refused for ever. */

const absence = rabbitMqAbsence();
if (absence !== undefined) console.log(`refusals of RabbitMQ: left out, because ${absence}`);

describe.skipIf(absence !== undefined)('refusals of RabbitMQ', { timeout: 120_000 }, () => {
  let broker: RabbitMqBroker;
  const transports: Transport[] = [];
  beforeAll(async () => {
    broker = await startRabbitMq();
  }, 180_000);
  afterEach(async () => {
    await Promise.all(transports.splice(0).map((transport) => transport.close()));
  });
  afterAll(() => broker?.close(), 60_000);

  function transport(options: Partial<RabbitMqTransportOptions> = {}): Transport {
    const made = aRabbitMqTransport({ url: broker.url, ...options });
    transports.push(made);
    return made;
  }

  async function byHand(work: (channel: ConfirmChannel) => Promise<unknown>): Promise<void> {
    const connection = await connect(broker.url);
    const channel = await connection.createConfirmChannel();
    await work(channel);
    await channel.waitForConfirms();
    await connection.close();
  }

  const refusal = (words: string) => ({ ok: false, problem: expect.stringContaining(words) });

  test('a virtual host that is not there is named', async () => {
    const one = transport({ url: `${broker.url}not%2Fthere` });
    const reply = await receiveRefusal(one, 'anything');
    expect(reply).toEqual(
      refusal(`at amqp://127.0.0.1:${broker.port}: it refused the virtual host "not/there"`),
    );
    expect(reply).toEqual(refusal('the user "guest" has no permissions in it'));
  });

  test('a name and a password may have any letters', async () => {
    const [user, password] = ['jürgen', 'pä/ss@%'];
    const binary = (text: string) => `<<${[...Buffer.from(text)].join(',')}>>`;
    // By number, because how it reads text depends on the machine.
    await broker.evaluate(
      `rabbit_auth_backend_internal:add_user(${binary(user)}, ${binary(password)}, <<"test">>), ` +
        `rabbit_auth_backend_internal:set_permissions(${binary(user)}, <<"/">>, <<"">>, <<".*">>, <<".*">>, <<"test">>)`,
    );
    const queue = await newQueue(transport());
    const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
    const one = transport({ url: broker.url.replace('guest:guest', credentials) });
    expect(await one.reach(queue)).toEqual(OK);
    expect(await one.send(queue, '1')).toEqual(OK);
  });

  test.each(['fanout', 'headers'])(
    'an exchange of type %s, which gives everybody a copy, is not used',
    async (type) => {
      await byHand((channel) => channel.assertExchange(`a-${type}`, type));
      const one = transport({ exchange: `a-${type}` });
      const words = `the exchange "a-${type}" has type ${type}, but envelopes need a topic exchange`;
      expect(await one.ensureQueue('anything')).toEqual(refusal(words));
      expect(await one.send('anything', '1')).toEqual(refusal(words));
    },
  );

  test('a topic exchange that somebody made in their own way is used', async () => {
    await byHand((channel) => channel.assertExchange('own-way', 'topic', { durable: false }));
    const one = transport({ exchange: 'own-way' });
    const queue = await newQueue(one);
    expect(await one.send(queue, '1')).toEqual(OK);
  });

  test('a full queue is told as such, and takes messages again when it has room', async () => {
    const queue = `q-${randomUUID().slice(0, 8)}`;
    const limits = { 'x-queue-type': 'quorum', 'x-max-length': 1, 'x-overflow': 'reject-publish' };
    await byHand((channel) => channel.assertQueue(queue, { arguments: limits }));
    const one = transport();
    expect(await one.ensureQueue(queue)).toEqual({
      ok: true,
      differences: [`x-dead-letter-exchange of queue "${queue}" is none, expected ""`],
    });
    let accepted = 0;
    let reply = await one.send(queue, '1');
    for (; reply.ok && accepted < 20; accepted++) reply = await one.send(queue, '1');
    expect(reply).toEqual(refusal('the queue is full (x-max-length)'));
    while (accepted-- > 0) expect(await one.ack(await receiveOne(one, queue))).toEqual(OK);
    await untilAccepted(() => one.send(queue, '1'));
  });

  test('a channel that is closed before anybody listens is replaced', async () => {
    const queue = await newQueue(transport());
    const connection = connectionTo({ url: broker.url, name: 'test' });
    let isFirst = true;
    const unlucky = {
      ...connection,
      confirmChannel: async () => {
        const channel = await connection.confirmChannel();
        if (isFirst) await channel.close();
        isFirst = false;
        return channel;
      },
    };
    const { publish } = publisherOn(unlucky, async () => {});
    expect(await publish('asya', queue, Buffer.from('1'), queue)).toMatchObject({ ok: false });
    expect(await publish('asya', queue, Buffer.from('1'), queue)).toEqual(OK);
    await connection.close();
  });

  test('a count that another sender wrote is none', async () => {
    const one = transport();
    const queue = await newQueue(one);
    await byHand(async (channel) =>
      channel.publish('', queue, Buffer.from('1'), { headers: { 'x-delivery-count': 'many' } }),
    );
    expect((await receiveOne(one, queue)).receiveCount).toBe(1);
  });

  test('with a hundred at rest, the first that is done makes room for another', async () => {
    const one = transport({ prefetch: 1 });
    const queue = await newQueue(one);
    const bodies = Array.from({ length: 101 }, (_, n) => String(n));
    await sendAll(one, queue, bodies);
    const resting: Delivery[] = [];
    for (const body of bodies.slice(0, 100)) {
      const delivery = await receiveOne(one, queue);
      expect(textOf(delivery)).toBe(body);
      expect(await one.nack(delivery, 600_000)).toEqual(OK);
      resting.push(delivery);
    }
    // Not the last, which is the one that its consumer waits for.
    expect(await one.nack(resting[0] as Delivery, 0)).toEqual(OK);
    expect(['0', '100']).toContain(textOf(await receiveOne(one, queue)));
  });
});
