import { startTimer } from './timer.ts';

/** Measures the timeouts of calls and of a runtime's start. A local mesh pauses them while a debugger is attached. */
export interface Timeouts {
  /** Calls back when the time is over. Returns a function that cancels it. */
  start(milliseconds: number, onDue: () => void): () => void;
  /** The timeout that the handler receives at the start of a call. Undefined: no limit. */
  forHandler(milliseconds: number): number | undefined;
}

export const realTimeouts: Timeouts = { start: startTimer, forHandler: (milliseconds) => milliseconds };

/** The `sleep` of a clock: resolves when the time is over or the signal aborts. */
export function sleepWith({
  start,
}: Timeouts): (milliseconds: number, signal?: AbortSignal) => Promise<void> {
  return (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = start(milliseconds, done);
      signal?.addEventListener('abort', done);
    });
}
