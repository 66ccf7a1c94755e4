import type { PullStream, ReceivedMessage } from '../../../lib/adapters/pubsub/pull-stream.ts';

/** A stream that brings and ends what the test says. */
export interface FakeStream extends PullStream {
  readonly did: string[];
  bring(...bodies: readonly string[]): void;
  endWith(error?: unknown): void;
}

export function fakeStream(
  window: number,
  onMessages: (messages: readonly ReceivedMessage[], stream: PullStream) => void,
  onEnd: (error: unknown, stream: PullStream) => void,
): FakeStream {
  let noteEnd = () => {};
  const stream: FakeStream = {
    window,
    openedAtMs: performance.now(),
    unsettled: 0,
    did: [],
    stop: () => stream.did.push('left'),
    cancel: () => {
      stream.did.push('cancelled');
      stream.endWith();
    },
    ended: new Promise((resolve) => {
      noteEnd = resolve;
    }),
    bring: (...bodies) =>
      onMessages(
        bodies.map((body) => ({
          ackId: `ack-${body}`,
          message: { messageId: body, data: Buffer.from(body) },
        })),
        stream,
      ),
    endWith: (error) => {
      noteEnd();
      onEnd(error, stream);
    },
  };
  return stream;
}

export function errorOf(code: number): Error {
  return Object.assign(new Error(`${code} SOMETHING`), { code });
}
