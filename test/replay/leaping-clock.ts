import type { Clock } from '../../lib/ports/clock.ts';

/**
 * Time that passes only by sleeping, and then at once: whoever sleeps finds the hour come when it wakes. Unlike the
 * virtual clock it goes together with what waits for the world outside.
 */
export interface LeapingClock extends Clock {
  /** Done when that much time has passed by somebody's sleep. */
  after(milliseconds: number, act: () => Promise<void> | void): void;
}

interface Appointment {
  readonly atMs: number;
  readonly act: () => Promise<void> | void;
}

const START = Date.UTC(2026, 0, 1);

export function leapingClock(start = START): LeapingClock {
  const appointments: Appointment[] = [];
  let now = start;

  async function leapTo(time: number): Promise<void> {
    for (;;) {
      const due = appointments
        .filter(({ atMs }) => atMs <= time)
        .reduce<Appointment | undefined>(
          (first, one) => (first && first.atMs <= one.atMs ? first : one),
          undefined,
        );
      if (due === undefined) break;
      appointments.splice(appointments.indexOf(due), 1);
      now = Math.max(now, due.atMs);
      await due.act();
    }
    now = Math.max(now, time);
  }

  return {
    now: () => now,
    sleep: async (milliseconds, signal) => {
      if (!signal?.aborted) await leapTo(now + milliseconds);
      await new Promise((resolve) => setImmediate(resolve));
    },
    after: (milliseconds, act) => {
      appointments.push({ atMs: now + milliseconds, act });
    },
  };
}
