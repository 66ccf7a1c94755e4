/** So many at once; the others wait in the order they came. */
export interface Turns {
  /** Resolves when it is one's turn. */
  take(): Promise<void>;
  /** The turn is over. */
  give(): void;
  readonly running: number;
  readonly waiting: number;
}

export function turnsFor(atOnce: number): Turns {
  const queue: (() => void)[] = [];
  let running = 0;
  return {
    take: () => {
      if (running < atOnce) {
        running++;
        return Promise.resolve();
      }
      return new Promise((resolve) => queue.push(resolve));
    },
    give: () => {
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
export function takeTurn(turns: Turns, giveUp: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const turnAway = () => resolve(false);
    giveUp.addEventListener('abort', turnAway, { once: true });
    if (giveUp.aborted) turnAway();
    turns.take().then(() => {
      giveUp.removeEventListener('abort', turnAway);
      if (giveUp.aborted) turns.give();
      resolve(!giveUp.aborted);
    });
  });
}
