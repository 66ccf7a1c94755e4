import type { Delivery, Receipt } from '../../ports/transport.ts';
import type { Lease, Leases } from './leases.ts';
import type { PullStream, ReceivedMessage } from './pull-stream.ts';
import { receiveCountOf } from './receive-count.ts';
import { isTransient, refusalOf } from './refusal.ts';

/** A queue's messages, which come by themselves, handed out to whoever asks for them. */
export interface Consumer {
  receive(most: number, signal: AbortSignal): Promise<Receipt>;
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
/** A stream that ends sooner than this did not end in the course of things. */
const SHORT_LIFE_MS = 5_000;
/** A stream that still brings something is not replaced more often than this, nor for being only a little too wide. */
const WIDENED_AFTER_MS = 1_000;
const NARROWED_AFTER_MS = 5_000;
const MUCH_TOO_WIDE = 4;
/** What is on its way when a stream is left may take so long. */
const LAST_CALL_MS = 3_000;

interface Waiter {
  readonly most: number;
  readonly give: (receipt: Receipt) => void;
}

/**
 * The stream's window is what the host can work on: what it holds and what it asks for. More would be hoarded here
 * while another instance has nothing to do. A stream's window cannot be changed, so a stream that has too little room
 * for what is asked (the host can do more, or deliveries rest that were released with a pause) is replaced by another.
 */
export function queueConsumer({ queue, leases, waitMs, open }: ConsumerOptions): Consumer {
  const streams = new Set<PullStream>();
  let current: PullStream | undefined;
  let buffer: { readonly message: ReceivedMessage; readonly lease: Lease }[] = [];
  let waiters: readonly Waiter[] = [];
  let isResting = false;
  let isClosed = false;

  function openFor(window: number): void {
    const left = current;
    current = open(window, onMessages, onEnd);
    streams.add(current);
    left?.stop();
  }

  function makeRoomFor(most: number): void {
    isResting = false;
    const wanted = leases.handedOut + most;
    if (current === undefined) {
      openFor(wanted);
      return;
    }
    const { window, unsettled, openedAtMs } = current;
    const ageMs = performance.now() - openedAtMs;
    const room = Math.max(0, window - unsettled) + buffer.length;
    const isTooNarrow = room === 0 || (room < most && ageMs > WIDENED_AFTER_MS);
    const isTooWide = window > wanted * MUCH_TOO_WIDE && ageMs > NARROWED_AFTER_MS;
    if (isTooNarrow || isTooWide) openFor(wanted);
  }

  function onMessages(messages: readonly ReceivedMessage[], stream: PullStream): void {
    const arrived = messages.map((message) => ({
      message,
      lease: leases.begin(message.ackId ?? '', stream),
    }));
    if (isResting) {
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
    if (isTransient(error) && livedMs > SHORT_LIFE_MS) {
      openFor(stream.window);
      return;
    }
    const refusal = refusalOf(error ?? new Error('Pub/Sub ended the stream of messages at once'), queue);
    for (const { give } of waiters) give(refusal);
  }

  /** Nobody here works on any more: what came and is not handed out goes to whoever does. */
  function rest(): void {
    isResting = true;
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
        rest();
        give(NOTHING);
      };
      const waiter: Waiter = { most, give };
      const timer = setTimeout(() => give(NOTHING), waitMs);
      signal.addEventListener('abort', abort, { once: true });
      waiters = [...waiters, waiter];
    });
  }

  return {
    receive: async (most, signal) => {
      if (signal.aborted || isClosed) return NOTHING;
      makeRoomFor(most);
      return buffer.length > 0 ? handOut(most) : waitFor(most, signal);
    },
    close: async () => {
      isClosed = true;
      for (const { give } of waiters) give(NOTHING);
      rest();
      const left = [...streams];
      const tooLate = setTimeout(() => {
        for (const stream of left) stream.cancel();
      }, LAST_CALL_MS);
      await Promise.all(left.map(({ ended }) => ended));
      clearTimeout(tooLate);
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
