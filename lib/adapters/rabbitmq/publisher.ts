import { randomUUID } from 'node:crypto';
import { type ConfirmChannel, IllegalOperationError } from 'amqplib';
import { ACCEPTED, type Reply } from '../../ports/reply.ts';
import type { Connection } from './connection.ts';
import { missingQueue, refusalOf } from './refusal.ts';

/** Sends that count only once the broker has them, in a queue, durably. */
export interface Publisher {
  /** By this exchange and routing key; the queue is the one that it is for, in words. */
  publish(exchange: string, routingKey: string, body: Buffer, queue: string): Promise<Reply>;
}

interface PublishChannel {
  readonly channel: ConfirmChannel;
  /** What no queue was found for: said before it is confirmed. */
  readonly returned: Set<string>;
  /** Why the channel is closed. */
  failure: unknown;
}

/** A broker in trouble confirms nothing, and the delivery behind a send waits meanwhile. */
const CONFIRM_WITHIN_MS = 30_000;

/** One channel for all: messages leave in the order they came, and are confirmed many at once. */
export function publisherOn(link: Connection, prepare: () => Promise<void>): Publisher {
  let opening: Promise<PublishChannel> | undefined;

  async function open(): Promise<PublishChannel> {
    await prepare();
    const channel = await link.confirmChannel();
    const desk: PublishChannel = { channel, returned: new Set(), failure: undefined };
    channel.on('return', ({ properties }) => desk.returned.add(String(properties.messageId)));
    channel.on('error', (error) => {
      desk.failure = error;
    });
    channel.on('close', () => {
      desk.failure ??= new Error('the connection to the broker was lost before it confirmed the message');
      opening = undefined;
    });
    return desk;
  }

  function deskNow(): Promise<PublishChannel> {
    opening ??= open().catch((error) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  return {
    publish: async (exchange, routingKey, body, queue) => {
      const asked = deskNow();
      try {
        const desk = await asked;
        if (link.blockedBecause !== undefined)
          return { ok: false, problem: `the broker takes no messages for now: ${link.blockedBecause}` };
        const messageId = randomUUID();
        await confirmed(desk.channel, exchange, routingKey, body, messageId).catch((error) => {
          throw desk.failure ?? error;
        });
        // Bound to nothing, it is not lost: nobody was told that it arrived.
        return desk.returned.delete(messageId) ? missingQueue(queue) : ACCEPTED;
      } catch (error) {
        // Closed before anybody listened for that: nobody else would ever ask for another.
        if (error instanceof IllegalOperationError && opening === asked) opening = undefined;
        // Where it is the exchange that is missing, no queue is bound to it either.
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
    const tooLate = setTimeout(
      () => reject(new Error(`the broker did not confirm the message within ${CONFIRM_WITHIN_MS / 1000} s`)),
      CONFIRM_WITHIN_MS,
    );
    const onConfirm = (error: unknown) => {
      clearTimeout(tooLate);
      if (error === null) resolve();
      else reject(isNack(error) ? new Error(WHY_NACKED) : error);
    };
    try {
      channel.publish(exchange, routingKey, body, properties, onConfirm);
    } catch (error) {
      onConfirm(error);
    }
  });
}

const WHY_NACKED = 'the broker did not take the message: the queue is full (x-max-length), or out of order';

function isNack(error: unknown): boolean {
  return error instanceof Error && error.message === 'message nacked';
}
