import type { protos, v1 } from '@google-cloud/pubsub';
import { once } from '../../async/once.ts';

/** One streaming pull: messages come by themselves, as many as its window has room for. */
export interface PullStream {
  /** How many unsettled messages it may have brought. */
  readonly window: number;
  readonly openedAtMs: number;
  /** How many of those that it brought Pub/Sub still waits for. */
  unsettled: number;
  /** Asks for no more; what is on its way still comes. */
  stop(): void;
  /** At once; what is on its way comes again to somebody, when its deadline is over. */
  cancel(): void;
  readonly ended: Promise<void>;
}

export interface PullStreamOptions {
  readonly subscriber: v1.SubscriberClient;
  readonly subscription: string;
  readonly window: number;
  /** How long Pub/Sub hides what it brings, unless it is told otherwise. */
  readonly deadlineSeconds: number;
  readonly onMessages: (messages: readonly ReceivedMessage[], stream: PullStream) => void;
  /** Once, with the reason where it is no plain end. */
  readonly onEnd: (error: unknown, stream: PullStream) => void;
}

export type ReceivedMessage = protos.google.pubsub.v1.IReceivedMessage;

/** A stream on which nobody says anything is ended by the service. */
const SIGN_OF_LIFE_MS = 30_000;
/** Whoever asks for ten-megabyte messages a hundred at a time is not given all at once. */
const MAX_BYTES = 256 * 1024 * 1024;
/** The service ends streams itself, sooner than this. */
const MAX_MS = 3_600_000;
/** A stream that was left and does not end is cut off. */
const LEFT_FOR_MS = 5_000;

export function openPullStream(options: PullStreamOptions): PullStream {
  const { subscriber, subscription, window, deadlineSeconds, onMessages, onEnd } = options;
  const call = subscriber.streamingPull({
    timeout: MAX_MS,
    otherArgs: { headers: { 'x-goog-request-params': `subscription=${subscription}` } },
  });
  let isOver = false;
  let noteEnd = () => {};
  let cutOff: NodeJS.Timeout | undefined;
  const signs = setInterval(() => call.write({}), SIGN_OF_LIFE_MS);

  const stream: PullStream = {
    window,
    openedAtMs: performance.now(),
    unsettled: 0,
    stop: () => {
      if (isOver || cutOff !== undefined) return;
      clearInterval(signs);
      cutOff = setTimeout(() => call.cancel(), LEFT_FOR_MS);
      call.end();
    },
    cancel: () => call.cancel(),
    ended: new Promise((resolve) => {
      noteEnd = resolve;
    }),
  };
  const end = once((error: unknown) => {
    isOver = true;
    clearInterval(signs);
    clearTimeout(cutOff);
    noteEnd();
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
