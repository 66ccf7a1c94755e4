import type { Delivery, Receipt } from '../../ports/transport.ts';
import type { Lease, Leases } from './leases.ts';
import type { PullStream, ReceivedMessage } from './pull-stream.ts';
import { receiveCountOf } from './receive-count.ts';
import { isTransient, refusalOf } from './refusal.ts';

/** The messages of one queue: Pub/Sub pushes them over a stream, and `receive` hands them out. */
export interface Consumer {
  receive(maxDeliveries: number, signal: AbortSignal): Promise<Receipt>;
  close(): Promise<void>;
}

export interface ConsumerOptions {
  readonly queue: string;
  readonly leases: Leases;
  readonly waitMs: number;
  readonly open: (
    window: number,
    onMessages: (messages: readonly ReceivedMessage[], stream: PullStream) => void,
    onEnd: (error: unknown, stream: PullStream) => void,
  ) => PullStream;
}

const NOTHING: Receipt = { ok: true, deliveries: [] };
/** If a stream ends sooner than this, that is a failure. */
const MIN_STREAM_LIFE_MS = 5_000;
/** A stream that still delivers is not replaced more often than this, nor if its window is only a little too large. */
const WIDEN_AFTER_MS = 1_000;
const NARROW_AFTER_MS = 5_000;
const MAX_WINDOW_FACTOR = 4;
/** How long messages on their way may take after a stream was stopped. */
const CLOSE_TIMEOUT_MS = 3_000;

interface Waiter {
  readonly most: number;
  readonly give: (receipt: Receipt) => void;
}

/**
 * The stream's window is what the host can work on: the deliveries it holds and those it asks for. A larger window would
 * keep messages here while another instance is idle. The window of an open stream cannot change, so a stream with too
 * little room (the host can work on more, or deliveries wait for the pause of their release) is replaced by another.
 */
export function queueConsumer({ queue, leases, waitMs, open }: ConsumerOptions): Consumer {
  const streams = new Set<PullStream>();
  let current: PullStream | undefined;
  let buffer: { readonly message: ReceivedMessage; readonly lease: Lease }[] = [];
  let waiters: readonly Waiter[] = [];
  let isStopped = false;
  let isClosed = false;

  function openFor(window: number): void {
    const previous = current;
    current = open(window, onMessages, onEnd);
    streams.add(current);
    previous?.stop();
  }

  function makeRoomFor(count: number): void {
    isStopped = false;
    const wanted = leases.handedOut + count;
    if (current === undefined) {
      openFor(wanted);
      return;
    }
    const { window, unsettled, openedAtMs } = current;
    const ageMs = performance.now() - openedAtMs;
    const room = Math.max(0, window - unsettled) + buffer.length;
    const isTooNarrow = room === 0 || (room < count && ageMs > WIDEN_AFTER_MS);
    const isTooWide = window > wanted * MAX_WINDOW_FACTOR && ageMs > NARROW_AFTER_MS;
    if (isTooNarrow || isTooWide) openFor(wanted);
  }

  function onMessages(messages: readonly ReceivedMessage[], stream: PullStream): void {
    const arrived = messages.map((message) => ({
      message,
      lease: leases.begin(message.ackId ?? '', stream),
    }));
    if (isStopped) {
      for (const { lease } of arrived) leases.release(lease, 0);
      return;
    }
    buffer.push(...arrived);
    for (const { most, give } of waiters) if (buffer.length > 0) give(handOut(most));
  }

  function handOut(most: number): Receipt {
    const taken = buffer.slice(0, most);
    buffer = buffer.slice(most);
    for (const { lease } of taken) leases.handOut(lease);
    return {
      ok: true,
      deliveries: taken.map(({ message, lease }) => deliveryFrom(message, lease, queue)),
    };
  }

  function onEnd(error: unknown, stream: PullStream): void {
    streams.delete(stream);
    if (stream !== current) return;
    current = undefined;
    if (waiters.length === 0) return;
    const livedMs = performance.now() - stream.openedAtMs;
    if (isTransient(error) && livedMs > MIN_STREAM_LIFE_MS) {
      openFor(stream.window);
      return;
    }
    const refusal = refusalOf(error ?? new Error('Pub/Sub closed the message stream immediately'), queue);
    for (const { give } of waiters) give(refusal);
  }

  /** Stops the streams, and releases messages that were not handed out, for other consumers. */
  function stopStreams(): void {
    isStopped = true;
    current = undefined;
    for (const stream of streams) stream.stop();
    for (const { lease } of buffer) leases.release(lease, 0);
    buffer = [];
  }

  function waitFor(most: number, signal: AbortSignal): Promise<Receipt> {
    return new Promise((resolve) => {
      const give = (receipt: Receipt) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        waiters = waiters.filter((other) => other !== waiter);
        resolve(receipt);
      };
      const abort = () => {
        stopStreams();
        give(NOTHING);
      };
      const waiter: Waiter = { most, give };
      const timer = setTimeout(() => give(NOTHING), waitMs);
      signal.addEventListener('abort', abort, { once: true });
      waiters = [...waiters, waiter];
    });
  }

  return {
    receive: async (maxDeliveries, signal) => {
      if (signal.aborted || isClosed) return NOTHING;
      makeRoomFor(maxDeliveries);
      return buffer.length > 0 ? handOut(maxDeliveries) : waitFor(maxDeliveries, signal);
    },
    close: async () => {
      isClosed = true;
      for (const { give } of waiters) give(NOTHING);
      stopStreams();
      const stopped = [...streams];
      const timeout = setTimeout(() => {
        for (const stream of stopped) stream.cancel();
      }, CLOSE_TIMEOUT_MS);
      await Promise.all(stopped.map(({ ended }) => ended));
      clearTimeout(timeout);
    },
  };
}

function deliveryFrom({ message, deliveryAttempt }: ReceivedMessage, lease: Lease, queue: string): Delivery {
  const { data, messageId, attributes } = message ?? {};
  return {
    body: typeof data === 'string' ? Buffer.from(data, 'base64') : (data ?? ''),
    messageId: messageId ?? '',
    receiveCount: receiveCountOf(deliveryAttempt, attributes),
    queue,
    handle: lease,
  };
}
