import type { Clock } from '../../lib/ports/clock.ts';

/** Time that passes only when told to. Nothing in it may wait for the world outside. */
export interface VirtualClock extends Clock {
  /** How many wait for a time to come. */
  readonly sleepers: number;
  /** So much time passes; who sleeps wakes in order. */
  pass(milliseconds: number): Promise<void>;
  /** Lets time pass, from one sleeper to the next, until it is so. */
  passUntil(isSo: () => boolean, within?: number): Promise<void>;
  /** Lets time pass until the promise is settled, and gives what it gives. */
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

  async function passUntil(isSo: () => boolean, within = A_DAY_MS): Promise<void> {
    const end = now + within;
    for (;;) {
      await allMicrotasks();
      if (isSo()) return;
      const next = nextSleeper();
      // A deadlock, told at once instead of by a timeout.
      if (next === undefined) throw new Error('nobody sleeps any more, and it has not come to pass');
      if (next.wakesAt > end) throw new Error(`it has not come to pass within ${within} ms`);
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
      const note = () => {
        isSettled = true;
      };
      promise.then(note, note);
      await passUntil(() => isSettled, within);
      return promise;
    },
  };
}

/** By then everything that waits for promises alone has gone as far as it can. */
function allMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
