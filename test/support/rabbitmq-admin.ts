import { type Channel, type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { MIN_RECEIVE_COUNT } from '../../lib/config/plan/queue-plan.ts';

/** Access to RabbitMQ's queues for tests, without the transport. Reconnects after an outage. */
export interface RabbitMqAdmin {
  /** Creates a queue and its dead-letter queue, bound like the queues of actors. */
  createQueue(queue: string): Promise<void>;
  /** Creates a queue with the broker's defaults, without a dead-letter queue. */
  createPlainQueue(queue: string): Promise<void>;
  deleteQueue(queue: string): Promise<void>;
  /** Resolves when the broker has confirmed all messages. */
  send(queue: string, ...bodies: readonly (string | Uint8Array)[]): Promise<void>;
  /** Receives and acknowledges all messages that are ready. */
  take(queue: string): Promise<readonly string[]>;
  /** The number of ready messages; undefined if the queue does not exist. */
  depth(queue: string): Promise<number | undefined>;
  close(): Promise<void>;
}

const EXCHANGE = 'asya';

export function rabbitMqAdmin(url: string): RabbitMqAdmin {
  let connecting: Promise<ChannelModel> | undefined;

  function connection(): Promise<ChannelModel> {
    connecting ??= connect(url, { timeout: 60_000 }).then(
      (model) => {
        model.on('error', () => {});
        model.on('close', () => {
          connecting = undefined;
        });
        return model;
      },
      (error) => {
        connecting = undefined;
        throw error;
      },
    );
    return connecting;
  }

  async function onChannel<T>(work: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
    const channel = await (await connection()).createConfirmChannel();
    channel.on('error', () => {});
    try {
      return await work(channel);
    } finally {
      channel.close().catch(() => {});
    }
  }

  return {
    createQueue: (queue) =>
      onChannel(async (channel) => {
        await channel.assertExchange(EXCHANGE, 'topic');
        await makeQueue(channel, `${queue}-dlq`, {});
        await makeQueue(channel, queue, {
          'x-delivery-limit': MIN_RECEIVE_COUNT - 1,
          'x-dead-letter-exchange': '',
          'x-dead-letter-routing-key': `${queue}-dlq`,
        });
      }),
    createPlainQueue: (queue) =>
      onChannel(async (channel) => {
        await channel.assertQueue(queue);
      }),
    deleteQueue: (queue) =>
      onChannel(async (channel) => {
        await channel.deleteQueue(queue);
      }),
    send: (queue, ...bodies) =>
      onChannel(async (channel) => {
        for (const body of bodies) channel.publish('', queue, Buffer.from(body), { persistent: true });
        await channel.waitForConfirms();
      }),
    take: (queue) =>
      onChannel(async (channel) => {
        const bodies: string[] = [];
        for (;;) {
          const message = await channel.get(queue);
          if (message === false) return bodies;
          channel.ack(message);
          bodies.push(message.content.toString());
        }
      }),
    depth: (queue) =>
      onChannel(async (channel) => (await channel.checkQueue(queue)).messageCount).catch((error) => {
        if ((error as { code?: number }).code === 404) return undefined;
        throw error;
      }),
    close: async () => {
      const model = await connecting?.catch(() => undefined);
      await model?.close().catch(() => {});
    },
  };
}

async function makeQueue(
  channel: Channel,
  queue: string,
  others: Readonly<Record<string, string | number>>,
): Promise<void> {
  await channel.assertQueue(queue, { arguments: { 'x-queue-type': 'quorum', ...others } });
  await channel.bindQueue(queue, EXCHANGE, queue);
}
