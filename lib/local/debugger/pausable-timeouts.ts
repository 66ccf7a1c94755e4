import type { Timeouts } from '../../async/timeouts.ts';
import type { Clock } from '../../ports/clock.ts';

/** Timeouts that stand still while a debugger is attached. Afterwards each continues with the time that was left. */
export interface PausableTimeouts extends Timeouts {
  readonly isPaused: boolean;
  /** The time without the pauses, in milliseconds. Only differences are meaningful. */
  now(): number;
  pause(): void;
  resume(): void;
}

interface Running {
  leftMs: number;
  readonly onDue: () => void;
  startedAt: number;
  stop: AbortController;
}

export function pausableTimeouts(clock: Clock): PausableTimeouts {
  const all = new Set<Running>();
  let pausedAt: number | undefined;
  let pausedMs = 0;

  function run(timeout: Running): void {
    const stop = new AbortController();
    timeout.stop = stop;
    timeout.startedAt = clock.now();
    void clock.sleep(timeout.leftMs, stop.signal).then(() => {
      if (stop.signal.aborted) return;
      all.delete(timeout);
      timeout.onDue();
    });
  }

  return {
    get isPaused() {
      return pausedAt !== undefined;
    },
    now: () => (pausedAt ?? clock.now()) - pausedMs,
    start: (milliseconds, onDue) => {
      const timeout = { leftMs: milliseconds, onDue, startedAt: 0, stop: new AbortController() };
      all.add(timeout);
      if (pausedAt === undefined) run(timeout);
      return () => {
        all.delete(timeout);
        timeout.stop.abort();
      };
    },
    // The handler measures its timeout itself and does not know about later pauses.
    told: (milliseconds) => (pausedAt === undefined ? milliseconds : undefined),
    pause: () => {
      if (pausedAt !== undefined) return;
      pausedAt = clock.now();
      for (const timeout of all) {
        timeout.stop.abort();
        timeout.leftMs = Math.max(0, timeout.leftMs - (pausedAt - timeout.startedAt));
      }
    },
    resume: () => {
      if (pausedAt === undefined) return;
      pausedMs += clock.now() - pausedAt;
      pausedAt = undefined;
      for (const timeout of all) run(timeout);
    },
  };
}
