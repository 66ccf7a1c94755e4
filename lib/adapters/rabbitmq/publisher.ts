import { randomUUID } from 'node:crypto';
import { type ConfirmChannel, IllegalOperationError } from 'amqplib';
import { ACCEPTED, type Reply } from '../../ports/reply.ts';
import type { Connection } from './connection.ts';
import { missingQueue, refusalOf } from './refusal.ts';

/** Publishes messages with publisher confirms: accepted means that a queue has stored the message durably. */
export interface Publisher {
  /** @param queue The name of the target queue, for refusals. */
  publish(exchange: string, routingKey: string, body: Buffer, queue: string): Promise<Reply>;
}

interface PublishChannel {
  readonly channel: ConfirmChannel;
  /** Ids of messages that no queue is bound for. The broker returns a message before it confirms it. */
  readonly returned: Set<string>;
  /** Why the channel is closed. */
  failure: unknown;
}

/** An overloaded broker may not confirm, and the delivery that caused the send would wait for it. */
const CONFIRM_TIMEOUT_MS = 30_000;

/** Uses one channel for all messages: they keep their order, and the broker confirms many at once. */
export function publisherOn(connection: Connection, prepare: () => Promise<void>): Publisher {
  let opening: Promise<PublishChannel> | undefined;

  async function open(): Promise<PublishChannel> {
    await prepare();
    const channel = await connection.confirmChannel();
    const opened: PublishChannel = { channel, returned: new Set(), failure: undefined };
    channel.on('return', ({ properties }) => opened.returned.add(String(properties.messageId)));
    channel.on('error', (error) => {
      opened.failure = error;
    });
    channel.on('close', () => {
      opened.failure ??= new Error('the connection to the broker was lost before it confirmed the message');
      opening = undefined;
    });
    return opened;
  }

  function publishChannel(): Promise<PublishChannel> {
    opening ??= open().catch((error) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  return {
    publish: async (exchange, routingKey, body, queue) => {
      const pending = publishChannel();
      try {
        const current = await pending;
        if (connection.blockedBecause !== undefined)
          return {
            ok: false,
            problem: `the broker currently accepts no messages: ${connection.blockedBecause}`,
          };
        const messageId = randomUUID();
        await confirmed(current.channel, exchange, routingKey, body, messageId).catch((error) => {
          throw current.failure ?? error;
        });
        // No queue is bound to the routing key.
        return current.returned.delete(messageId) ? missingQueue(queue) : ACCEPTED;
      } catch (error) {
        // The channel was closed before the listener was added, so the listener did not reset it.
        if (error instanceof IllegalOperationError && opening === pending) opening = undefined;
        // A missing exchange is also reported as a missing queue.
        return refusalOf(error, queue);
      }
    },
  };
}

function confirmed(
  channel: ConfirmChannel,
  exchange: string,
  routingKey: string,
  body: Buffer,
  messageId: string,
): Promise<void> {
  const properties = { mandatory: true, persistent: true, contentType: 'application/json', messageId };
  return new Promise((resolve, reject) => {
    const timeout = setTimeout(
      () => reject(new Error(`the broker did not confirm the message within ${CONFIRM_TIMEOUT_MS / 1000} s`)),
      CONFIRM_TIMEOUT_MS,
    );
    const onConfirm = (error: unknown) => {
      clearTimeout(timeout);
      if (error === null) resolve();
      else reject(isNack(error) ? new Error(NACKED) : error);
    };
    try {
      channel.publish(exchange, routingKey, body, properties, onConfirm);
    } catch (error) {
      onConfirm(error);
    }
  });
}

const NACKED = 'the broker rejected the message: the queue is full (x-max-length) or not available';

function isNack(error: unknown): boolean {
  return error instanceof Error && error.message === 'message nacked';
}
