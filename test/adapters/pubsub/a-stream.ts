import type { PullStream, ReceivedMessage } from '../../../lib/adapters/pubsub/pull-stream.ts';

/** A stream whose messages and end the test controls. */
export interface FakeStream extends PullStream {
  /** The calls of `stop` and `cancel`, in order. */
  readonly calls: string[];
  deliver(...bodies: readonly string[]): void;
  endWith(error?: unknown): void;
}

export function fakeStream(
  window: number,
  onMessages: (messages: readonly ReceivedMessage[], stream: PullStream) => void,
  onEnd: (error: unknown, stream: PullStream) => void,
): FakeStream {
  let resolveEnded = () => {};
  const stream: FakeStream = {
    window,
    openedAtMs: performance.now(),
    unsettled: 0,
    calls: [],
    stop: () => stream.calls.push('stop'),
    cancel: () => {
      stream.calls.push('cancel');
      stream.endWith();
    },
    ended: new Promise((resolve) => {
      resolveEnded = resolve;
    }),
    deliver: (...bodies) =>
      onMessages(
        bodies.map((body) => ({
          ackId: `ack-${body}`,
          message: { messageId: body, data: Buffer.from(body) },
        })),
        stream,
      ),
    endWith: (error) => {
      resolveEnded();
      onEnd(error, stream);
    },
  };
  return stream;
}

export function errorOf(code: number): Error {
  return Object.assign(new Error(`${code} SOMETHING`), { code });
}
