import type { Duplex, Readable } from 'node:stream';

/** Two streams, so that answers can still be read after a call could not be written. */
export interface ChannelStreams {
  /** Calls leave on it, and nothing arrives. */
  readonly calls: Duplex;
  /** Answers arrive on it. */
  readonly answers: Readable;
}

interface Events {
  readonly onAnswer: (chunk: Buffer) => void;
  /** The process wrote to the stream on which calls leave. */
  readonly onStray: () => void;
  /** A stream has ended: the process has ended, or is about to. Answers may still arrive. Called once. */
  readonly onEnding: () => void;
  /**
   * Both streams are closed, and all answers have arrived. Called once, unless the streams are destroyed before.
   * @param isUnread Whether the process did not read what was written last.
   */
  readonly onEnd: (isUnread: boolean) => void;
}

export interface FollowedStreams {
  /** False if the process cannot read the bytes, because the stream has failed. True does not mean that it will. */
  write(bytes: Buffer): boolean;
  /** Nothing arrives any more. */
  destroy(): void;
}

/** Follows the streams to a process. The order in which they end says nothing, so their end is that of both. */
export function followStreams({ calls, answers }: ChannelStreams, events: Events): FollowedStreams {
  const open = new Set<Readable>([calls, answers]);
  let isEnding = false;
  let isUnread = false;
  let isDestroyed = false;

  function onEnding(): void {
    if (isEnding || isDestroyed) return;
    isEnding = true;
    events.onEnding();
  }

  // A write fails, or the system reports on the next read that the process left bytes unread.
  calls.on('error', () => {
    isUnread = true;
  });
  calls.on('data', events.onStray);
  answers.on('data', events.onAnswer);
  for (const stream of open) {
    for (const event of ['error', 'end']) stream.on(event, onEnding);
    stream.on('close', () => {
      onEnding();
      open.delete(stream);
      if (open.size === 0 && !isDestroyed) events.onEnd(isUnread);
    });
  }

  return {
    write: (bytes) => {
      calls.write(bytes);
      // A write to a process that has ended fails at once; the event follows later.
      return !calls.destroyed && calls.errored === null;
    },
    destroy: () => {
      isDestroyed = true;
      for (const stream of [calls, answers]) stream.destroy();
    },
  };
}
