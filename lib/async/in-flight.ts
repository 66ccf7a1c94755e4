import { startTimer } from './timer.ts';

/** Work that was started and has not ended. */
export interface InFlight {
  /** Counts the work as in flight until it settles. Settles as it does. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when everything in flight now has settled, or after the time limit. @default no limit */
  settled(withinMs?: number): Promise<void>;
  readonly size: number;
}

export function inFlight(): InFlight {
  const works = new Set<Promise<unknown>>();
  return {
    track: (work) => {
      works.add(work);
      return work.finally(() => works.delete(work));
    },
    settled: async (withinMs) => {
      const all = Promise.allSettled(works);
      if (withinMs === undefined) {
        await all;
        return;
      }
      let cancelTimer = () => {};
      const timeout = new Promise<void>((resolve) => {
        cancelTimer = startTimer(withinMs, resolve);
      });
      await Promise.race([all, timeout]);
      cancelTimer();
    },
    get size() {
      return works.size;
    },
  };
}
