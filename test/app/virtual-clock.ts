import type { Clock } from '../../lib/ports/clock.ts';

/** Time that passes only when the test lets it pass. Code on this clock must not wait for anything else. */
export interface VirtualClock extends Clock {
  /** How many sleeps are pending. */
  readonly sleepers: number;
  /** Lets this time pass. Sleepers wake in order. */
  pass(milliseconds: number): Promise<void>;
  /** Lets time pass, from one sleeper to the next, until the condition is true. */
  passUntil(condition: () => boolean, within?: number): Promise<void>;
  /** Lets time pass until the promise is settled, and returns it. */
  passUntilSettled<T>(promise: Promise<T>, within?: number): Promise<T>;
}

interface Sleeper {
  readonly wakesAt: number;
  readonly wake: () => void;
}

const START = Date.UTC(2026, 0, 1);
const A_DAY_MS = 86_400_000;

export function virtualClock(start = START): VirtualClock {
  const sleepers = new Set<Sleeper>();
  let now = start;

  const nextSleeper = () =>
    [...sleepers].reduce<Sleeper | undefined>(
      (first, one) => (first === undefined || one.wakesAt < first.wakesAt ? one : first),
      undefined,
    );

  function wake(sleeper: Sleeper): void {
    sleepers.delete(sleeper);
    now = Math.max(now, sleeper.wakesAt);
    sleeper.wake();
  }

  async function passUntil(condition: () => boolean, within = A_DAY_MS): Promise<void> {
    const end = now + within;
    for (;;) {
      await allMicrotasks();
      if (condition()) return;
      const next = nextSleeper();
      // A deadlock: fail at once instead of with a timeout.
      if (next === undefined) throw new Error('no sleeper is left, and the condition is still false');
      if (next.wakesAt > end) throw new Error(`the condition is still false after ${within} ms`);
      wake(next);
    }
  }

  return {
    now: () => now,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper = { wakesAt: now + milliseconds, wake: () => done() };
        const done = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', done);
      }),
    get sleepers() {
      return sleepers.size;
    },
    pass: async (milliseconds) => {
      const end = now + milliseconds;
      for (;;) {
        await allMicrotasks();
        const next = nextSleeper();
        if (next === undefined || next.wakesAt > end) break;
        wake(next);
      }
      now = end;
    },
    passUntil,
    passUntilSettled: async (promise, within) => {
      let isSettled = false;
      const markSettled = () => {
        isSettled = true;
      };
      promise.then(markSettled, markSettled);
      await passUntil(() => isSettled, within);
      return promise;
    },
  };
}

/** Lets everything run that waits only for promises. */
function allMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
