import type { Socket } from 'node:net';
import { encodeFrames } from './frames.ts';

/** Sends the progress of one call. */
export interface ProgressWriter {
  /** `data` is JSON, or empty. */
  send(update: object, data: string): void;
  /** Sends what waits. Call it before anything else is written. */
  flush(): void;
}

/**
 * While the connection is busy, only the last value of each field waits. The sidecar would keep no more than that, and a
 * handler that reports in a loop would fill the memory.
 * @param tag Marks a head with the call that it belongs to.
 */
export function progressWriter(socket: Socket, tag = (head: string): string => head): ProgressWriter {
  let waiting: { readonly update: object; readonly data: string } | undefined;
  let isListening = false;

  function flush(): void {
    if (waiting === undefined) return;
    const { update, data } = waiting;
    waiting = undefined;
    socket.write(encodeFrames(tag(JSON.stringify({ kind: 'progress', ...update })), data));
  }

  function flushOnDrain(): void {
    if (isListening) return;
    isListening = true;
    socket.once('drain', () => {
      isListening = false;
      flush();
    });
  }

  return {
    send: (update, data) => {
      waiting = { update: { ...waiting?.update, ...update }, data: data || (waiting?.data ?? '') };
      if (socket.writableNeedDrain) flushOnDrain();
      else flush();
    },
    flush,
  };
}
