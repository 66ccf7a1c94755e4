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

/** What RabbitMQ refuses: each refusal has a message and is not permanent. */

const absence = rabbitMqAbsence();
if (absence !== undefined) console.log(`refusals of RabbitMQ: skipped, because ${absence}`);

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

  async function onChannel(work: (channel: ConfirmChannel) => Promise<unknown>): Promise<void> {
    const connection = await connect(broker.url);
    const channel = await connection.createConfirmChannel();
    await work(channel);
    await channel.waitForConfirms();
    await connection.close();
  }

  const refusal = (problem: string) => ({ ok: false, problem: expect.stringContaining(problem) });

  test('names a missing virtual host', async () => {
    const one = transport({ url: `${broker.url}not%2Fthere` });
    const reply = await receiveRefusal(one, 'anything');
    expect(reply).toEqual(
      refusal(`at amqp://127.0.0.1:${broker.port}: it refused the virtual host "not/there"`),
    );
    expect(reply).toEqual(refusal('the user "guest" has no permissions in it'));
  });

  test('accepts any characters in the user name and the password', async () => {
    const [user, password] = ['jürgen', 'pä/ss@%'];
    const binary = (text: string) => `<<${[...Buffer.from(text)].join(',')}>>`;
    // As bytes, because the encoding of text depends on the machine.
    await broker.evaluate(
      `rabbit_auth_backend_internal:add_user(${binary(user)}, ${binary(password)}, <<"test">>), ` +
        `rabbit_auth_backend_internal:set_permissions(${binary(user)}, <<"/">>, <<"">>, <<".*">>, <<".*">>, <<"test">>)`,
    );
    const queue = await newQueue(transport());
    const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
    const one = transport({ url: broker.url.replace('guest:guest', credentials) });
    expect(await one.checkQueue(queue)).toEqual(OK);
    expect(await one.send(queue, '1')).toEqual(OK);
  });

  test.each(['fanout', 'headers'])(
    'refuses an exchange of type %s, which would copy messages to all queues',
    async (type) => {
      await onChannel((channel) => channel.assertExchange(`a-${type}`, type));
      const one = transport({ exchange: `a-${type}` });
      const problem = `the exchange "a-${type}" has type ${type}, but envelopes need a topic exchange`;
      expect(await one.ensureQueue('anything')).toEqual(refusal(problem));
      expect(await one.send('anything', '1')).toEqual(refusal(problem));
    },
  );

  test('uses an existing topic exchange with other options', async () => {
    await onChannel((channel) => channel.assertExchange('not-durable', 'topic', { durable: false }));
    const one = transport({ exchange: 'not-durable' });
    const queue = await newQueue(one);
    expect(await one.send(queue, '1')).toEqual(OK);
  });

  test('reports a full queue, and sends to it again once it has room', async () => {
    const queue = `q-${randomUUID().slice(0, 8)}`;
    const limits = { 'x-queue-type': 'quorum', 'x-max-length': 1, 'x-overflow': 'reject-publish' };
    await onChannel((channel) => channel.assertQueue(queue, { arguments: limits }));
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

  test('replaces a channel that is closed before it has listeners', async () => {
    const queue = await newQueue(transport());
    const connection = connectionTo({ url: broker.url, name: 'test' });
    let isFirst = true;
    const closing = {
      ...connection,
      confirmChannel: async () => {
        const channel = await connection.confirmChannel();
        if (isFirst) await channel.close();
        isFirst = false;
        return channel;
      },
    };
    const { publish } = publisherOn(closing, async () => {});
    expect(await publish('asya', queue, Buffer.from('1'), queue)).toMatchObject({ ok: false });
    expect(await publish('asya', queue, Buffer.from('1'), queue)).toEqual(OK);
    await connection.close();
  });

  test('ignores an invalid delivery count in the headers of another sender', async () => {
    const one = transport();
    const queue = await newQueue(one);
    await onChannel(async (channel) =>
      channel.publish('', queue, Buffer.from('1'), { headers: { 'x-delivery-count': 'many' } }),
    );
    expect((await receiveOne(one, queue)).receiveCount).toBe(1);
  });

  test('receives another delivery when one of a hundred paused ones is released', async () => {
    const one = transport({ prefetch: 1 });
    const queue = await newQueue(one);
    const bodies = Array.from({ length: 101 }, (_, n) => String(n));
    await sendAll(one, queue, bodies);
    const paused: Delivery[] = [];
    for (const body of bodies.slice(0, 100)) {
      const delivery = await receiveOne(one, queue);
      expect(textOf(delivery)).toBe(body);
      expect(await one.nack(delivery, 600_000)).toEqual(OK);
      paused.push(delivery);
    }
    // Not the last one, which its consumer waits for.
    expect(await one.nack(paused[0] as Delivery, 0)).toEqual(OK);
    expect(['0', '100']).toContain(textOf(await receiveOne(one, queue)));
  });
});
