import type { Clock } from '../../lib/ports/clock.ts';

/**
 * A clock that advances at each `sleep`, which returns at once. Unlike the virtual clock, it also works with code that
 * waits for real I/O.
 */
export interface AutoAdvancingClock extends Clock {
  /** Calls `act` when this time has passed. */
  after(milliseconds: number, act: () => Promise<void> | void): void;
}

interface Timer {
  readonly atMs: number;
  readonly act: () => Promise<void> | void;
}

const START = Date.UTC(2026, 0, 1);

export function autoAdvancingClock(start = START): AutoAdvancingClock {
  const timers: Timer[] = [];
  let now = start;

  async function advanceTo(time: number): Promise<void> {
    for (;;) {
      const due = timers
        .filter(({ atMs }) => atMs <= time)
        .reduce<Timer | undefined>(
          (first, one) => (first && first.atMs <= one.atMs ? first : one),
          undefined,
        );
      if (due === undefined) break;
      timers.splice(timers.indexOf(due), 1);
      now = Math.max(now, due.atMs);
      await due.act();
    }
    now = Math.max(now, time);
  }

  return {
    now: () => now,
    sleep: async (milliseconds, signal) => {
      if (!signal?.aborted) await advanceTo(now + milliseconds);
      await new Promise((resolve) => setImmediate(resolve));
    },
    after: (milliseconds, act) => {
      timers.push({ atMs: now + milliseconds, act });
    },
  };
}
