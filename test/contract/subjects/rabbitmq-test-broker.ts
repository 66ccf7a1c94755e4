import { MIN_RECEIVE_COUNT } from '../../../lib/config/plan/queue-plan.ts';
import { rabbitMqAdmin } from '../../support/rabbitmq-admin.ts';
import { type RabbitMqBroker, startRabbitMq } from '../../support/rabbitmq-broker.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import type { QueueDescription, TestBroker } from '../contract-subject.ts';

/** A shared broker, stopped when its last user ends. */
export interface SharedRabbitMq {
  readonly broker: RabbitMqBroker;
  end(): Promise<void>;
}

let running: Promise<RabbitMqBroker> | undefined;
let users = 0;

export async function shareRabbitMq(): Promise<SharedRabbitMq> {
  users++;
  running ??= startRabbitMq();
  const broker = await running;
  return {
    broker,
    end: async () => {
      users--;
      if (users > 0) return;
      running = undefined;
      await broker.close();
    },
  };
}

export async function rabbitMqTestBroker(delay: 'none' | 'ttl'): Promise<TestBroker> {
  const { broker, end } = await shareRabbitMq();
  const proxy = await startTcpProxy(broker.port);
  const admin = rabbitMqAdmin(broker.url);
  const unavailable = () => {
    throw new Error('not supported, according to the features');
  };
  const module = new URL('make-rabbitmq-transport.ts', import.meta.url).href;
  const proxied = `amqp://guest:guest@127.0.0.1:${proxy.port}/`;
  return {
    maker: { module, options: { url: broker.url, delay } },
    breakableMaker: { module, options: { url: proxied, delay } },
    maxReceiveCount: MIN_RECEIVE_COUNT,
    createQueue: admin.createQueue,
    createPlainQueue: admin.createPlainQueue,
    deleteQueue: admin.deleteQueue,
    describeQueue: (queue) => describeQueue(broker, queue),
    plannedQueues: (queue) => ({
      [queue]: {
        durable: 'true',
        'x-queue-type': 'quorum',
        'x-delivery-limit': MIN_RECEIVE_COUNT - 1,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': `${queue}-dlq`,
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish',
      },
      [`${queue}-dlq`]: {
        durable: 'true',
        'x-queue-type': 'quorum',
        'x-delivery-limit': 2_147_483_647,
      },
    }),
    failEntries: unavailable,
    beginOutage: () => {
      proxy.refuse();
      proxy.reset();
      return proxy.resume;
    },
    close: async () => {
      await admin.close();
      await proxy.close();
      await end();
    },
  };
}

/** An Erlang expression, because AMQP only offers the number of messages. */
const DESCRIBED =
  '[#{name => element(4, amqqueue:get_name(Q)), durable => amqqueue:is_durable(Q), ' +
  'arguments => [[Name, Value] || {Name, _, Value} <- amqqueue:get_arguments(Q)]} || Q <- rabbit_amqqueue:list()]';

async function describeQueue(broker: RabbitMqBroker, queue: string): Promise<QueueDescription> {
  const rows = (await broker.evaluate(DESCRIBED)) as {
    name: string;
    durable: boolean;
    arguments: [string, string | number][];
  }[];
  const row = rows.find(({ name }) => name === queue);
  if (row === undefined) throw new Error(`queue ${queue} does not exist`);
  return { durable: String(row.durable), ...Object.fromEntries(row.arguments) };
}
