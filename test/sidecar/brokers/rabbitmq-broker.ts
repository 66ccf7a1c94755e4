import { RABBITMQ_RECORD, RABBITMQ_TTL_RECORD } from '../../../lib/adapters/rabbitmq/rabbitmq-features.ts';
import { rabbitMqAdmin } from '../../support/rabbitmq-admin.ts';
import type { RabbitMqBroker } from '../../support/rabbitmq-broker.ts';
import type { SidecarBroker } from './sidecar-broker.ts';

/** Includes unacknowledged messages, which AMQP does not report. */
const COUNTED =
  '[#{name => element(4, amqqueue:get_name(Q)), ' +
  'messages => proplists:get_value(messages, rabbit_amqqueue:info(Q, [messages]))} || Q <- rabbit_amqqueue:list()]';

export function rabbitMqSidecarBroker(broker: RabbitMqBroker, delay: 'none' | 'ttl'): SidecarBroker {
  const { createQueue, send, take, close } = rabbitMqAdmin(broker.url);
  return {
    name: 'rabbitmq',
    variables: { ASYA_RABBITMQ_URL: broker.url, ASYA_RABBITMQ_DELAY: delay },
    delays: (delay === 'ttl' ? RABBITMQ_TTL_RECORD : RABBITMQ_RECORD).features.delays,
    anyBytes: 'yes',
    countsHidden: true,
    createQueue,
    send,
    take,
    leftIn: async (queues) => {
      const rows = (await broker.evaluate(COUNTED)) as { name: string; messages: number }[];
      const known = new Map(rows.map(({ name, messages }) => [name, messages]));
      return Object.fromEntries(queues.map((queue) => [queue, known.get(queue) ?? -1]));
    },
    close: async () => {
      await close();
      await broker.close();
    },
  };
}
