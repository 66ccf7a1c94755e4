import type { Timeouts } from '../../async/timeouts.ts';
import type { Clock } from '../../ports/clock.ts';

/** Timeouts that pause while a debugger is attached. Afterwards each continues with the time that was left. */
export interface PausableTimeouts extends Timeouts {
  readonly isPaused: boolean;
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
  let isPaused = false;

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
      return isPaused;
    },
    start: (milliseconds, onDue) => {
      const timeout = { leftMs: milliseconds, onDue, startedAt: 0, stop: new AbortController() };
      all.add(timeout);
      if (!isPaused) run(timeout);
      return () => {
        all.delete(timeout);
        timeout.stop.abort();
      };
    },
    // The handler measures its timeout itself and does not know about later pauses.
    forHandler: (milliseconds) => (isPaused ? undefined : milliseconds),
    pause: () => {
      if (isPaused) return;
      isPaused = true;
      for (const timeout of all) {
        timeout.stop.abort();
        timeout.leftMs = Math.max(0, timeout.leftMs - (clock.now() - timeout.startedAt));
      }
    },
    resume: () => {
      if (!isPaused) return;
      isPaused = false;
      for (const timeout of all) run(timeout);
    },
  };
}
