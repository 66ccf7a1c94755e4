import { setTimeout as sleep } from 'node:timers/promises';
import type { Options } from 'amqplib';
import { LEAST_RECEIVE_COUNT } from '../../config/queue-plan.ts';
import { type Link, onChannel } from './link.ts';
import { isNotFound } from './refusal.ts';

/** Queues by name: looked for, and made where they are missing. All of it rejects where the broker refuses. */
export interface RabbitMqQueues {
  /** Rejects where the queue is not there. */
  look(queue: string): Promise<void>;
  /** Makes the queue with its dead-letter queue and binds both by their names; what is there already stays as it is. */
  ensure(queue: string): Promise<void>;
  ensureExchange(): Promise<void>;
  /** Makes the queue in which messages for another wait for so long. */
  ensureDelay(queue: string, delayMs: number): Promise<string>;
}

/** The broker counts what went before the last delivery, so that this makes five of them. */
const DELIVERY_LIMIT = LEAST_RECEIVE_COUNT - 1;
/** Said, because RabbitMQ 4 would otherwise throw away what was delivered twenty times. */
const NO_DELIVERY_LIMIT = 2_147_483_647;
/** A broker that dies right after it made a queue may forget it, and what it confirmed for it: seen within 0.1 s. */
const QUEUE_IS_SAFE_AFTER_MS = 1_000;

export function rabbitMqQueues(link: Link, exchange: string): RabbitMqQueues {
  async function look(queue: string): Promise<void> {
    await onChannel(link, (channel) => channel.checkQueue(queue));
  }

  async function isThere(look: Promise<unknown>): Promise<boolean> {
    try {
      await look;
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async function make(queue: string, options: Options.AssertQueue): Promise<void> {
    // Asked first: what differs from this is somebody's choice, and making it again would be refused.
    const isMade = await isThere(look(queue));
    await onChannel(link, async (channel) => {
      if (!isMade) await channel.assertQueue(queue, options);
      await channel.bindQueue(queue, exchange, queue);
    });
  }

  async function ensureExchange(): Promise<void> {
    const isMade = await isThere(onChannel(link, (channel) => channel.checkExchange(exchange)));
    try {
      await onChannel(link, (channel) => channel.assertExchange(exchange, 'topic', { durable: true }));
    } catch (error) {
      const wrongType = typeIn(error);
      if (wrongType !== undefined) throw new Error(wrongTypeWords(exchange, wrongType));
      // One that is there is made again only to hear of its type; that nobody may make it is as well.
      if (!isMade) throw error;
    }
  }

  return {
    look,
    ensureExchange,
    ensure: async (queue) => {
      await ensureExchange();
      const deadLetterQueue = `${queue}-dlq`;
      await make(deadLetterQueue, quorumQueue({ 'x-delivery-limit': NO_DELIVERY_LIMIT }));
      await make(
        queue,
        quorumQueue({ 'x-delivery-limit': DELIVERY_LIMIT, ...deadLettersTo(deadLetterQueue) }),
      );
    },
    ensureDelay: async (queue, delayMs) => {
      await look(queue);
      // With a dot, which no actor's name has.
      const waiting = `${queue}.delay.${delayMs}ms`;
      if (await isThere(look(waiting))) return waiting;
      // It never goes by itself: a quorum queue that expires does so with all it holds, however often it is declared.
      const options = quorumQueue({ 'x-message-ttl': delayMs, ...deadLettersTo(queue) });
      await onChannel(link, (channel) => channel.assertQueue(waiting, options));
      await sleep(QUEUE_IS_SAFE_AFTER_MS);
      return waiting;
    },
  };
}

function quorumQueue(others: Readonly<Record<string, string | number>>): Options.AssertQueue {
  return { durable: true, arguments: { 'x-queue-type': 'quorum', ...others } };
}

/**
 * By the nameless exchange, which nobody can delete and which knows every queue by its name; kept until the other
 * queue has it, which the broker does only for queues that refuse rather than drop.
 */
function deadLettersTo(queue: string): Readonly<Record<string, string>> {
  return {
    'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': queue,
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
  };
}

/** The type of an exchange that is there, where that is what keeps it from being made as asked. */
function typeIn(error: unknown): string | undefined {
  const words = error instanceof Error ? error.message : '';
  return /inequivalent arg 'type' .* current is '([^']*)'/.exec(words)?.[1];
}

/** One that gives every queue a copy would send each envelope to every actor, and each mismatch to all of them again. */
function wrongTypeWords(exchange: string, type: string): string {
  return (
    `the exchange "${exchange}" is of type ${type}, and envelopes need a topic exchange: ` +
    'delete it, or name another one by ASYA_RABBITMQ_EXCHANGE'
  );
}
