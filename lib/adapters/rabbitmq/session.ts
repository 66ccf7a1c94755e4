import type { ConsumeMessage } from 'amqplib';
import { batcher } from '../../async/batcher.ts';
import { type Connection, endChannel } from './connection.ts';

/** Deliveries of one queue, pushed by the broker over a channel of their own, until that channel ends. */
export interface Session {
  /** What came and was not taken yet. */
  take(most: number): readonly ConsumeMessage[];
  /** Resolves when something came, when the session ends, and when the signal aborts. */
  change(signal: AbortSignal): Promise<void>;
  /** Why it ended; undefined while it lasts. What it had delivered and nobody settled, the broker delivers again. */
  readonly end: SessionEnd | undefined;
  /** Settles one of its own and resolves when the broker has heard it; rejects where it may not have. */
  settle(message: ConsumeMessage, how: Settlement): Promise<void>;
  /** Takes no more; what was taken can still be settled. */
  retire(): void;
}

type SessionEnd =
  /** By the broker, because the queue was deleted or has moved. */
  { readonly why: 'canceled' } | { readonly why: 'lost'; readonly error: unknown };

/** A pause is held here, because the broker knows none. `keep` only asks whether it is still ours. */
export type Settlement =
  | { readonly kind: 'ack' }
  | { readonly kind: 'release'; readonly pauseMs: number }
  | { readonly kind: 'keep' };

interface Outstanding {
  readonly message: ConsumeMessage;
  /** Set while it waits for its release. */
  pause?: NodeJS.Timeout;
}

/** More than so many waiting for their release, and no new ones are asked for in their place. */
const MAX_PAUSED = 100;

/** Rejects where the queue is not there or the broker is not. */
export async function openSession(link: Connection, queue: string, prefetch: number): Promise<Session> {
  const channel = await link.channel();
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

  function onEnd(how: SessionEnd): void {
    if (end !== undefined) return;
    end = how;
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
      // The channel is closing, which releases all that it had.
    }
    renewWhereBlocked();
    endWhenDone();
  }

  function releaseAfter(message: ConsumeMessage, pauseMs: number): void {
    const known = outstanding.get(message.fields.deliveryTag);
    if (known === undefined) return;
    clearTimeout(known.pause);
    known.pause = setTimeout(() => release(message), pauseMs);
    renewWhereBlocked();
  }

  /**
   * What is paused takes the place of what could be worked on. Where all places are taken so, a new consumer gets
   * new ones; the old one goes, and what it holds stays held.
   */
  function renewWhereBlocked(): void {
    const paused = [...outstanding.values()].filter(({ pause }) => pause !== undefined);
    const ofThisConsumer = paused.filter(({ message }) => message.fields.consumerTag === consumer);
    if (isRetired || ofThisConsumer.length < prefetch || paused.length >= MAX_PAUSED) return;
    const old = consumer;
    // One at a time: until the next has come, none is this one's.
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
    // Where it fails the channel has ended, and that is told.
    channel.cancel(consumerTag).catch(() => {});
  }

  function endWhenDone(): void {
    if (isRetired && outstanding.size === 0 && settling === 0) endChannel(channel);
  }

  /** Asked after what was written before it: the answer says that the broker has read that, and has the queue. */
  const confirmations = batcher<void, void>({
    run: async () => {
      if (end !== undefined) throw endError(end);
      await unlessOver(channel.checkQueue(queue));
      return [];
    },
  });

  /** A question that crosses the end of its channel on the way may never be answered. */
  function unlessOver(answer: Promise<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => end !== undefined && reject(endError(end));
      listeners.add(giveUp);
      answer.then(() => resolve(), reject).finally(() => listeners.delete(giveUp));
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
    take: (most) => waiting.splice(0, most),
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
    settle: async (message, how) => {
      if (end !== undefined) throw endError(end);
      settling++;
      try {
        if (how.kind === 'ack' && close(message)) channel.ack(message);
        if (how.kind === 'release') {
          if (how.pauseMs > 0) releaseAfter(message, how.pauseMs);
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
  return end.why === 'lost' ? end.error : new Error('the broker took the queue away');
}
