import { setTimeout as sleep } from 'node:timers/promises';

/** What was begun and is not over. */
export interface UnderWay {
  add<T>(work: Promise<T>): Promise<T>;
  /** Resolves when all is over, or after so long. */
  over(withinMs: number): Promise<void>;
}

export function underWay(): UnderWay {
  const works = new Set<Promise<unknown>>();
  return {
    add: (work) => {
      works.add(work);
      const forget = () => works.delete(work);
      work.then(forget, forget);
      return work;
    },
    over: async (withinMs) => {
      const patience = new AbortController();
      await Promise.race([
        Promise.allSettled(works),
        sleep(withinMs, undefined, { signal: patience.signal }).catch(() => {}),
      ]);
      patience.abort();
    },
  };
}
