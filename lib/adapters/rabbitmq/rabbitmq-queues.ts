import { setTimeout as sleep } from 'node:timers/promises';
import type { Options } from 'amqplib';
import { MIN_RECEIVE_COUNT } from '../../config/plan/queue-plan.ts';
import { errorText } from '../../core/text/error-text.ts';
import { type Connection, onChannel } from './connection.ts';
import { isAccessRefused, isNotFound } from './refusal.ts';

/** Queues by name: looked for, and made where they are missing. All of it rejects where the broker refuses. */
export interface RabbitMqQueues {
  /** Rejects where the queue is not there. */
  check(queue: string): Promise<void>;
  /**
   * Creates the queue with its dead-letter queue and binds both by their names. Resolves with what differs if they
   * exist, and leaves them as they are.
   */
  ensure(queue: string): Promise<readonly string[]>;
  ensureExchange(): Promise<void>;
  /** Makes the queue in which messages for another wait for so long. */
  ensureDelay(queue: string, delayMs: number): Promise<string>;
}

/** The broker counts what went before the last delivery, so that this makes five of them. */
const DELIVERY_LIMIT = MIN_RECEIVE_COUNT - 1;
/** Said, because RabbitMQ 4 would otherwise throw away what was delivered twenty times. */
const NO_DELIVERY_LIMIT = 2_147_483_647;
/** A broker that dies right after it made a queue may forget it, and what it confirmed for it: seen within 0.1 s. */
const QUEUE_IS_SAFE_AFTER_MS = 1_000;

export function rabbitMqQueues(link: Connection, exchange: string): RabbitMqQueues {
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

  /** Resolves with what differs if the queue exists. Declaring it again is how the broker reports that. */
  async function make(queue: string, options: Options.AssertQueue): Promise<readonly string[]> {
    const isMade = await isThere(look(queue));
    const declaring = onChannel(link, (channel) => channel.assertQueue(queue, options));
    const differences = isMade ? await differencesFrom(declaring, queue) : [];
    if (!isMade) await declaring;
    await onChannel(link, (channel) => channel.bindQueue(queue, exchange, queue));
    return differences;
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
    check: look,
    ensureExchange,
    ensure: async (queue) => {
      await ensureExchange();
      const deadLetterQueue = `${queue}-dlq`;
      const differences = await make(deadLetterQueue, quorumQueue({ 'x-delivery-limit': NO_DELIVERY_LIMIT }));
      const options = quorumQueue({ 'x-delivery-limit': DELIVERY_LIMIT, ...deadLettersTo(deadLetterQueue) });
      return [...differences, ...(await make(queue, options))];
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

/** The broker names the first argument that differs. An account that may not declare queues learns nothing. */
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

/** The type of an exchange that is there, where that is what keeps it from being made as asked. */
function typeIn(error: unknown): string | undefined {
  const words = errorText(error);
  return /inequivalent arg 'type' .* current is '([^']*)'/.exec(words)?.[1];
}

/** One that gives every queue a copy would send each envelope to every actor, and each mismatch to all of them again. */
function wrongTypeWords(exchange: string, type: string): string {
  return (
    `the exchange "${exchange}" is of type ${type}, and envelopes need a topic exchange: ` +
    'delete it, or name another one by ASYA_RABBITMQ_EXCHANGE'
  );
}
