import type { protos, v1 } from '@google-cloud/pubsub';
import { once } from '../../async/once.ts';

/** One streaming pull: Pub/Sub pushes messages, as many as the window allows. */
export interface PullStream {
  /** Most unsettled messages of this stream. */
  readonly window: number;
  readonly openedAtMs: number;
  /** How many messages of this stream are not settled. */
  unsettled: number;
  /** Requests no more messages. Those on their way still arrive. */
  stop(): void;
  /** Ends the stream at once. Pub/Sub redelivers messages on their way when their deadline is over. */
  cancel(): void;
  readonly ended: Promise<void>;
}

export interface PullStreamOptions {
  readonly subscriber: v1.SubscriberClient;
  readonly subscription: string;
  readonly window: number;
  /** How long Pub/Sub hides a new message, unless its deadline is changed. */
  readonly deadlineSeconds: number;
  readonly onMessages: (messages: readonly ReceivedMessage[], stream: PullStream) => void;
  /** Called once, with the error if there was one. */
  readonly onEnd: (error: unknown, stream: PullStream) => void;
}

export type ReceivedMessage = protos.google.pubsub.v1.IReceivedMessage;

/** The service ends a stream on which the client sends nothing. */
const KEEP_ALIVE_MS = 30_000;
/** Limits the memory that large messages need. */
const MAX_BYTES = 256 * 1024 * 1024;
/** The service itself ends streams sooner than this. */
const MAX_LIFE_MS = 3_600_000;
/** A stopped stream that does not end within this time is canceled. */
const STOP_TIMEOUT_MS = 5_000;

export function openPullStream(options: PullStreamOptions): PullStream {
  const { subscriber, subscription, window, deadlineSeconds, onMessages, onEnd } = options;
  const call = subscriber.streamingPull({
    timeout: MAX_LIFE_MS,
    otherArgs: { headers: { 'x-goog-request-params': `subscription=${subscription}` } },
  });
  let isEnded = false;
  let resolveEnded = () => {};
  let cancelTimer: NodeJS.Timeout | undefined;
  const keepAlive = setInterval(() => call.write({}), KEEP_ALIVE_MS);

  const stream: PullStream = {
    window,
    openedAtMs: performance.now(),
    unsettled: 0,
    stop: () => {
      if (isEnded || cancelTimer !== undefined) return;
      clearInterval(keepAlive);
      cancelTimer = setTimeout(() => call.cancel(), STOP_TIMEOUT_MS);
      call.end();
    },
    cancel: () => call.cancel(),
    ended: new Promise((resolve) => {
      resolveEnded = resolve;
    }),
  };
  const end = once((error: unknown) => {
    isEnded = true;
    clearInterval(keepAlive);
    clearTimeout(cancelTimer);
    resolveEnded();
    onEnd(error, stream);
  });

  call.on('data', ({ receivedMessages }: protos.google.pubsub.v1.IStreamingPullResponse) => {
    if (receivedMessages?.length) onMessages(receivedMessages, stream);
  });
  call.on('error', end);
  call.on('end', () => end(undefined));
  call.write({
    subscription,
    streamAckDeadlineSeconds: deadlineSeconds,
    maxOutstandingMessages: window,
    maxOutstandingBytes: MAX_BYTES,
  });
  return stream;
}
