import { setTimeout as sleep } from 'node:timers/promises';
import type { Options } from 'amqplib';
import { MIN_RECEIVE_COUNT } from '../../config/plan/queue-plan.ts';
import { errorText } from '../../core/text/error-text.ts';
import { type Connection, onChannel } from './connection.ts';
import { isAccessRefused, isNotFound } from './refusal.ts';

/** Checks and creates queues. Every method rejects if the broker refuses. */
export interface RabbitMqQueues {
  /** Rejects if the queue does not exist. */
  check(queue: string): Promise<void>;
  /**
   * Creates the queue and its dead-letter queue, and binds both by their names. Existing queues stay as they are; resolves
   * with how they differ.
   */
  ensure(queue: string): Promise<readonly string[]>;
  ensureExchange(): Promise<void>;
  /** Creates the queue in which messages for `queue` wait for the delay. Resolves with its name. */
  ensureDelay(queue: string, delayMs: number): Promise<string>;
}

/** The broker counts redeliveries, so this allows one delivery more. */
const DELIVERY_LIMIT = MIN_RECEIVE_COUNT - 1;
/** Explicit, because RabbitMQ 4 by default drops a message after twenty deliveries. */
const NO_DELIVERY_LIMIT = 2_147_483_647;
/** A broker that crashes right after it created a queue may lose it with its confirmed messages (seen within 0.1 s). */
const QUEUE_SAFE_AFTER_MS = 1_000;

export function rabbitMqQueues(connection: Connection, exchange: string): RabbitMqQueues {
  async function check(queue: string): Promise<void> {
    await onChannel(connection, (channel) => channel.checkQueue(queue));
  }

  async function exists(lookup: Promise<unknown>): Promise<boolean> {
    try {
      await lookup;
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** Resolves with how an existing queue differs. Declaring it again makes the broker report that. */
  async function create(queue: string, options: Options.AssertQueue): Promise<readonly string[]> {
    const isExisting = await exists(check(queue));
    const declaring = onChannel(connection, (channel) => channel.assertQueue(queue, options));
    const differences = isExisting ? await differencesFrom(declaring, queue) : [];
    if (!isExisting) await declaring;
    await onChannel(connection, (channel) => channel.bindQueue(queue, exchange, queue));
    return differences;
  }

  async function ensureExchange(): Promise<void> {
    const isExisting = await exists(onChannel(connection, (channel) => channel.checkExchange(exchange)));
    try {
      await onChannel(connection, (channel) => channel.assertExchange(exchange, 'topic', { durable: true }));
    } catch (error) {
      const wrongType = typeIn(error);
      if (wrongType !== undefined) throw new Error(wrongTypeMessage(exchange, wrongType));
      // An existing exchange is declared again only to learn its type. A missing permission for that is fine.
      if (!isExisting) throw error;
    }
  }

  return {
    check,
    ensureExchange,
    ensure: async (queue) => {
      await ensureExchange();
      const deadLetterQueue = `${queue}-dlq`;
      const differences = await create(
        deadLetterQueue,
        quorumQueue({ 'x-delivery-limit': NO_DELIVERY_LIMIT }),
      );
      const options = quorumQueue({ 'x-delivery-limit': DELIVERY_LIMIT, ...deadLettersTo(deadLetterQueue) });
      return [...differences, ...(await create(queue, options))];
    },
    ensureDelay: async (queue, delayMs) => {
      await check(queue);
      // Actor names have no dots, so the name is free.
      const waiting = `${queue}.delay.${delayMs}ms`;
      if (await exists(check(waiting))) return waiting;
      // The queue does not expire: a quorum queue that expires drops its messages, even if it is declared again.
      const options = quorumQueue({ 'x-message-ttl': delayMs, ...deadLettersTo(queue) });
      await onChannel(connection, (channel) => channel.assertQueue(waiting, options));
      await sleep(QUEUE_SAFE_AFTER_MS);
      return waiting;
    },
  };
}

function quorumQueue(others: Readonly<Record<string, string | number>>): Options.AssertQueue {
  return { durable: true, arguments: { 'x-queue-type': 'quorum', ...others } };
}

/**
 * Uses the default exchange, which cannot be deleted and routes by queue name. With `at-least-once` a message is kept until
 * the target queue has stored it; RabbitMQ requires `reject-publish` for that.
 */
function deadLettersTo(queue: string): Readonly<Record<string, string>> {
  return {
    'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': queue,
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
  };
}

/** The broker reports the first argument that differs. Without permission to declare queues there is nothing to compare. */
async function differencesFrom(declaring: Promise<unknown>, queue: string): Promise<readonly string[]> {
  try {
    await declaring;
    return [];
  } catch (error) {
    const text = errorText(error);
    const [, argument, expected, is] =
      /inequivalent arg '([^']*)' .*: received (.*?) but current is (.*?)"?$/.exec(text) ?? [];
    if (argument !== undefined)
      return [`${argument} of queue "${queue}" is ${plainValue(is)}, expected ${plainValue(expected)}`];
    if (isAccessRefused(error)) return [];
    throw error;
  }
}

/** The broker writes `the value '4' of type 'signedint'`, or `none`. */
function plainValue(text = 'none'): string {
  const [, value] = /^the value '(.*)' of type '\w+'$/.exec(text) ?? [];
  return value === undefined ? text : JSON.stringify(value);
}

/** The type of the existing exchange, if the error is about it. */
function typeIn(error: unknown): string | undefined {
  const text = errorText(error);
  return /inequivalent arg 'type' .* current is '([^']*)'/.exec(text)?.[1];
}

/** With a fanout exchange, every actor would receive every envelope. */
function wrongTypeMessage(exchange: string, type: string): string {
  return (
    `the exchange "${exchange}" has type ${type}, but envelopes need a topic exchange: ` +
    'delete it, or set ASYA_RABBITMQ_EXCHANGE to another name'
  );
}
