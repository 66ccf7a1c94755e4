/** Limits how many holders there are at the same time. The others wait in the order in which they asked. */
export interface Semaphore {
  /** Resolves when the caller may start. */
  acquire(): Promise<void>;
  /** Ends the caller's use, so that the next one may start. */
  release(): void;
  readonly running: number;
  readonly waiting: number;
}

/** @param maxRunning A function, if the limit changes while the semaphore is used. */
export function semaphore(maxRunning: number | (() => number)): Semaphore {
  const limit = typeof maxRunning === 'number' ? () => maxRunning : maxRunning;
  const queue: (() => void)[] = [];
  let running = 0;
  return {
    acquire: () => {
      if (running < limit()) {
        running++;
        return Promise.resolve();
      }
      return new Promise((resolve) => queue.push(resolve));
    },
    release: () => {
      running--;
      while (running < limit()) {
        const next = queue.shift();
        if (next === undefined) return;
        running++;
        next();
      }
    },
    get running() {
      return running;
    },
    get waiting() {
      return queue.length;
    },
  };
}

/** Resolves with false if the signal aborts first; a slot that is granted later is released at once. */
export function acquireUnlessAborted(slots: Semaphore, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const giveUp = () => resolve(false);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    slots.acquire().then(() => {
      signal.removeEventListener('abort', giveUp);
      if (signal.aborted) slots.release();
      resolve(!signal.aborted);
    });
  });
}
