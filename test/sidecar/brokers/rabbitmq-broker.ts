import { connect } from 'amqplib';
import { RABBITMQ_RECORD, RABBITMQ_TTL_RECORD } from '../../../lib/adapters/rabbitmq/rabbitmq-features.ts';
import { LEAST_RECEIVE_COUNT } from '../../../lib/config/queue-plan.ts';
import type { RabbitMqBroker } from '../../support/rabbitmq-broker.ts';
import type { SidecarBroker } from './sidecar-broker.ts';

const EXCHANGE = 'asya';

export async function rabbitMqSidecarBroker(
  broker: RabbitMqBroker,
  delay: 'none' | 'ttl',
): Promise<SidecarBroker> {
  const connection = await connect(broker.url);
  const channel = await connection.createConfirmChannel();
  await channel.assertExchange(EXCHANGE, 'topic');
  const makeQueue = async (queue: string, others: Readonly<Record<string, string | number>>) => {
    await channel.assertQueue(queue, { arguments: { 'x-queue-type': 'quorum', ...others } });
    await channel.bindQueue(queue, EXCHANGE, queue);
  };
  return {
    name: 'rabbitmq',
    variables: { ASYA_RABBITMQ_URL: broker.url, ASYA_RABBITMQ_DELAY: delay },
    delays: (delay === 'ttl' ? RABBITMQ_TTL_RECORD : RABBITMQ_RECORD).features.delays,
    anyBytes: 'yes',
    createQueue: async (queue) => {
      await makeQueue(`${queue}-dlq`, {});
      await makeQueue(queue, {
        'x-delivery-limit': LEAST_RECEIVE_COUNT - 1,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': `${queue}-dlq`,
      });
    },
    send: async (queue, body) => {
      channel.publish(EXCHANGE, queue, Buffer.from(body), { persistent: true });
      await channel.waitForConfirms();
    },
    take: async (queue) => {
      const taken: string[] = [];
      for (;;) {
        const message = await channel.get(queue, { noAck: true });
        if (message === false) return taken;
        taken.push(message.content.toString());
      }
    },
    leftIn: async (queues) => {
      const told = ['--quiet', '--formatter', 'json', 'list_queues', 'name', 'messages'];
      const rows = JSON.parse(await broker.control(...told)) as { name: string; messages: number }[];
      const known = new Map(rows.map(({ name, messages }) => [name, messages]));
      return Object.fromEntries(queues.map((queue) => [queue, known.get(queue) ?? -1]));
    },
    close: async () => {
      await connection.close();
      await broker.close();
    },
  };
}
