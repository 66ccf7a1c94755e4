import type { Clock } from '../../lib/ports/clock.ts';
import { ACCEPTED, type Refusal, type Reply } from '../../lib/ports/reply.ts';
import type { Delivery, Transport } from '../../lib/ports/transport.ts';

/**
 * An in-memory broker that uses the given clock, so a test of a 20-minute outage takes milliseconds. It passes the same
 * contract tests as the real brokers.
 */
export interface MemoryBroker {
  transport(times?: { readonly visibilityMs?: number; readonly waitMs?: number }): Transport;
  createQueue(queue: string): void;
  deleteQueue(queue: string): void;
  /** The bodies of all messages in the queue, hidden or not. */
  bodiesIn(queue: string): readonly string[];
}

export interface MemoryBrokerOptions {
  readonly clock: Clock;
  readonly maxReceiveCount?: number;
}

interface Message {
  readonly messageId: string;
  readonly body: string;
  visibleAt: number;
  receiveCount: number;
  /** The handle of the last receive. Only this handle can settle the message. */
  handle?: string;
}

interface Queue {
  readonly messages: Set<Message>;
  /** Aborts when the queue changes, to wake pending receives. */
  change: AbortController;
}

const MAX_BODY_BYTES = 1024 * 1024;

export function memoryBroker({ clock, maxReceiveCount = 5 }: MemoryBrokerOptions): MemoryBroker {
  const queues = new Map<string, Queue>();
  let ids = 0;

  function createQueue(queue: string): void {
    for (const name of [queue, `${queue}-dlq`]) {
      if (!queues.has(name)) queues.set(name, { messages: new Set(), change: new AbortController() });
    }
  }

  function notify(queue: Queue): void {
    const { change } = queue;
    queue.change = new AbortController();
    change.abort();
  }

  function put(queue: Queue, message: Message): void {
    queue.messages.add(message);
    notify(queue);
  }

  function take(name: string, queue: Queue, most: number, visibilityMs: number): readonly Delivery[] {
    const deliveries: Delivery[] = [];
    for (const message of queue.messages) {
      if (deliveries.length >= most) break;
      if (message.visibleAt > clock.now()) continue;
      const deadLetterQueue = queues.get(`${name}-dlq`);
      if (message.receiveCount >= maxReceiveCount && deadLetterQueue !== undefined) {
        queue.messages.delete(message);
        put(deadLetterQueue, message);
        continue;
      }
      message.receiveCount++;
      message.handle = `h-${++ids}`;
      message.visibleAt = clock.now() + visibilityMs;
      const { body, messageId, receiveCount, handle } = message;
      deliveries.push({ body, messageId, receiveCount, queue: name, handle });
    }
    return deliveries;
  }

  async function withMessage(
    { queue: name, handle }: Delivery,
    change: (message: Message, queue: Queue) => void,
  ): Promise<Reply> {
    const queue = queues.get(name);
    if (queue === undefined) return missing(name);
    const message = [...queue.messages].find((one) => one.handle === handle);
    if (message === undefined) return { ok: false, problem: 'it was settled, or delivered again since' };
    change(message, queue);
    return ACCEPTED;
  }

  async function send(name: string, body: string, delayMs: number): Promise<Reply> {
    const queue = queues.get(name);
    if (queue === undefined) return missing(name);
    const bytes = Buffer.byteLength(body);
    if (bytes > MAX_BODY_BYTES) return { ok: false, problem: `${bytes} bytes are too many` };
    put(queue, { messageId: `m-${++ids}`, body, visibleAt: clock.now() + delayMs, receiveCount: 0 });
    return ACCEPTED;
  }

  function transport({ visibilityMs = 600_000, waitMs = 20_000 } = {}): Transport {
    const closing = new AbortController();
    const receiving = new Set<Promise<unknown>>();

    const receive: Transport['receive'] = async (name, most, signal) => {
      const until = clock.now() + waitMs;
      for (;;) {
        const queue = queues.get(name);
        if (queue === undefined) return missing(name);
        if (signal.aborted || closing.signal.aborted) return { ok: true, deliveries: [] };
        const deliveries = take(name, queue, most, visibilityMs);
        const leftMs = until - clock.now();
        if (deliveries.length > 0 || leftMs <= 0) return { ok: true, deliveries };
        const hidden = [...queue.messages].map(({ visibleAt }) => visibleAt - clock.now());
        const change = AbortSignal.any([signal, closing.signal, queue.change.signal]);
        await clock.sleep(Math.min(leftMs, ...hidden), change);
      }
    };

    return {
      traits: {
        name: 'memory',
        maxDelayMs: 900_000,
        maxBodyBytes: MAX_BODY_BYTES,
        maxBatch: 10,
        visibilityMs,
        countsReceives: true,
      },
      receive: (...args) => {
        const one = receive(...args);
        receiving.add(one);
        return one.finally(() => receiving.delete(one));
      },
      send: (queue, body) => send(queue, body, 0),
      sendWithDelay: send,
      ack: (delivery) => withMessage(delivery, (message, queue) => queue.messages.delete(message)),
      nack: (delivery, pauseMs) =>
        withMessage(delivery, (message, queue) => {
          message.visibleAt = clock.now() + pauseMs;
          notify(queue);
        }),
      extend: (delivery) =>
        withMessage(delivery, (message) => {
          message.visibleAt = clock.now() + visibilityMs;
        }),
      ensureQueue: async (queue) => {
        createQueue(queue);
        return ACCEPTED;
      },
      checkQueue: async (queue) => (queues.has(queue) ? ACCEPTED : missing(queue)),
      close: async () => {
        closing.abort();
        await Promise.all(receiving);
      },
    };
  }

  return {
    transport,
    createQueue,
    deleteQueue: (name) => {
      const queue = queues.get(name);
      queues.delete(name);
      if (queue !== undefined) notify(queue);
    },
    bodiesIn: (name) => [...(queues.get(name)?.messages ?? [])].map(({ body }) => body),
  };
}

function missing(queue: string): Refusal {
  return { ok: false, problem: `queue "${queue}" does not exist`, isQueueMissing: true };
}
