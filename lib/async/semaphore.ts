/** So many at once; the others wait in the order they came. */
export interface Semaphore {
  /** Resolves when it is one's turn. */
  acquire(): Promise<void>;
  /** The turn is over. */
  release(): void;
  readonly running: number;
  readonly waiting: number;
}

export function semaphore(atOnce: number): Semaphore {
  const queue: (() => void)[] = [];
  let running = 0;
  return {
    acquire: () => {
      if (running < atOnce) {
        running++;
        return Promise.resolve();
      }
      return new Promise((resolve) => queue.push(resolve));
    },
    release: () => {
      const next = queue.shift();
      if (next === undefined) running--;
      else next();
    },
    get running() {
      return running;
    },
    get waiting() {
      return queue.length;
    },
  };
}

/** False where the end came before the turn; the turn that comes all the same goes on to the next at once. */
export function acquireUnlessAborted(turns: Semaphore, giveUp: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const turnAway = () => resolve(false);
    giveUp.addEventListener('abort', turnAway, { once: true });
    if (giveUp.aborted) turnAway();
    turns.acquire().then(() => {
      giveUp.removeEventListener('abort', turnAway);
      if (giveUp.aborted) turns.release();
      resolve(!giveUp.aborted);
    });
  });
}
