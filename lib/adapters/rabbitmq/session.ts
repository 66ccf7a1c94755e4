import type { ConsumeMessage } from 'amqplib';
import { batcher } from '../../async/batcher.ts';
import { type Connection, endChannel } from './connection.ts';

/** One channel over which the broker pushes the deliveries of one queue, until the channel ends. */
export interface Session {
  /** Takes messages that have arrived. */
  take(maxMessages: number): readonly ConsumeMessage[];
  /** Resolves when a message arrives, when the session ends, or when the signal aborts. */
  change(signal: AbortSignal): Promise<void>;
  /** Why the session ended, or undefined if it is open. The broker redelivers the unsettled messages of an ended session. */
  readonly end: SessionEnd | undefined;
  /** Settles a message of this session. Resolves when the broker has processed it; rejects if that is not certain. */
  settle(message: ConsumeMessage, settlement: Settlement): Promise<void>;
  /** Requests no more messages. Messages that were taken can still be settled. */
  retire(): void;
}

type SessionEnd =
  /** The broker canceled the consumer, because the queue was deleted or moved. */
  { readonly why: 'canceled' } | { readonly why: 'lost'; readonly error: unknown };

/** The session itself waits for the pause of a release. `keep` only checks that the message still belongs to the session. */
export type Settlement =
  | { readonly kind: 'ack' }
  | { readonly kind: 'release'; readonly pauseMs: number }
  | { readonly kind: 'keep' };

interface Outstanding {
  readonly message: ConsumeMessage;
  /** Set while the message waits for its release. */
  pause?: NodeJS.Timeout;
}

/** If more messages than this wait for their release, no more are requested in their place. */
const MAX_PAUSED = 100;

/** Rejects if the queue does not exist or the broker does not respond. */
export async function openSession(connection: Connection, queue: string, prefetch: number): Promise<Session> {
  const channel = await connection.channel();
  const waiting: ConsumeMessage[] = [];
  const outstanding = new Map<number, Outstanding>();
  const listeners = new Set<() => void>();
  let end: SessionEnd | undefined;
  let failure: unknown = new Error('the connection to the broker was lost');
  let isRetired = false;
  let consumer = '';
  let settling = 0;

  function onChange(): void {
    for (const listener of [...listeners]) listener();
  }

  function onEnd(reason: SessionEnd): void {
    if (end !== undefined) return;
    end = reason;
    waiting.length = 0;
    for (const { pause } of outstanding.values()) clearTimeout(pause);
    outstanding.clear();
    onChange();
  }

  function onMessage(message: ConsumeMessage | null): void {
    if (message === null) {
      onEnd({ why: 'canceled' });
      endChannel(channel);
      return;
    }
    outstanding.set(message.fields.deliveryTag, { message });
    if (isRetired) release(message);
    else waiting.push(message);
    onChange();
  }

  function close(message: ConsumeMessage): boolean {
    const known = outstanding.get(message.fields.deliveryTag);
    clearTimeout(known?.pause);
    return outstanding.delete(message.fields.deliveryTag);
  }

  function release(message: ConsumeMessage): void {
    if (end !== undefined || !close(message)) return;
    try {
      channel.nack(message, false, true);
    } catch {
      // The channel is closing, which releases all its messages.
    }
    renewIfBlocked();
    endWhenDone();
  }

  function releaseAfter(message: ConsumeMessage, pauseMs: number): void {
    const known = outstanding.get(message.fields.deliveryTag);
    if (known === undefined) return;
    clearTimeout(known.pause);
    known.pause = setTimeout(() => release(message), pauseMs);
    renewIfBlocked();
  }

  /**
   * Paused messages count towards the consumer's prefetch. If they fill it, a new consumer with its own prefetch replaces
   * this one. The messages of the old consumer stay with the session.
   */
  function renewIfBlocked(): void {
    const paused = [...outstanding.values()].filter(({ pause }) => pause !== undefined);
    const ofThisConsumer = paused.filter(({ message }) => message.fields.consumerTag === consumer);
    if (isRetired || ofThisConsumer.length < prefetch || paused.length >= MAX_PAUSED) return;
    const old = consumer;
    // Until the next consumer is there, no message counts as this consumer's, so only one renewal runs at a time.
    consumer = '';
    consume().then(
      () => cancel(old),
      () => {},
    );
  }

  async function consume(): Promise<void> {
    const { consumerTag } = await channel.consume(queue, onMessage);
    consumer = consumerTag;
    if (isRetired) cancel(consumerTag);
  }

  function cancel(consumerTag: string): void {
    // If it fails, the channel has ended, which 'close' reports.
    channel.cancel(consumerTag).catch(() => {});
  }

  function endWhenDone(): void {
    if (isRetired && outstanding.size === 0 && settling === 0) endChannel(channel);
  }

  /** The broker does not confirm acks. Its response to a later request shows that it has processed them, and has the queue. */
  const confirmations = batcher<void, void>({
    run: async () => {
      if (end !== undefined) throw endError(end);
      await unlessEnded(channel.checkQueue(queue));
      return [];
    },
  });

  /** Rejects if the channel ends: the library then may never settle the request. */
  function unlessEnded(response: Promise<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => end !== undefined && reject(endError(end));
      listeners.add(giveUp);
      response.then(() => resolve(), reject).finally(() => listeners.delete(giveUp));
    });
  }

  channel.on('error', (error) => {
    failure = error;
  });
  channel.on('close', () => onEnd({ why: 'lost', error: failure }));
  try {
    await channel.prefetch(prefetch);
    await consume();
  } catch (error) {
    endChannel(channel);
    throw error;
  }

  return {
    take: (maxMessages) => waiting.splice(0, maxMessages),
    change: (signal) =>
      new Promise((resolve) => {
        const finish = () => {
          listeners.delete(finish);
          signal.removeEventListener('abort', finish);
          resolve();
        };
        listeners.add(finish);
        signal.addEventListener('abort', finish, { once: true });
        if (signal.aborted || end !== undefined || waiting.length > 0) finish();
      }),
    get end() {
      return end;
    },
    settle: async (message, settlement) => {
      if (end !== undefined) throw endError(end);
      settling++;
      try {
        if (settlement.kind === 'ack' && close(message)) channel.ack(message);
        if (settlement.kind === 'release') {
          if (settlement.pauseMs > 0) releaseAfter(message, settlement.pauseMs);
          else release(message);
        }
        await confirmations.add();
      } finally {
        settling--;
        endWhenDone();
      }
    },
    retire: () => {
      if (isRetired || end !== undefined) return;
      isRetired = true;
      cancel(consumer);
      for (const message of waiting.splice(0)) release(message);
      endWhenDone();
    },
  };
}

function endError(end: SessionEnd): unknown {
  return end.why === 'lost' ? end.error : new Error('the broker canceled the consumer');
}
