import { once } from '../../async/once.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PublishRequest } from '../../ports/publish-request.ts';
import type { ScheduledPublish } from '../../ports/scheduled-publish.ts';
import { openTimerStore, type Timer } from './timer-store.ts';

export interface TimerFileOptions {
  /** Path of the file. It is created if it does not exist. */
  readonly path: string;
  readonly publish: PublishRequest;
  readonly clock: Clock;
  readonly onWarning: (what: string, details: Readonly<Record<string, string | number>>) => void;
}

export interface TimerFile extends ScheduledPublish {
  /** How many timers have not been published. */
  readonly waiting: number;
}

const MAX_IN_FLIGHT = 50;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Limits the delay after the machine was suspended or its clock was changed. */
const MAX_SLEEP_MS = 300_000;
/** For how long a name cannot be used again. Cloud Tasks does the same for an hour or longer. */
const REMEMBER_FIRED_MS = 24 * 3_600_000;

/**
 * Replaces Cloud Tasks where it is not available: stores timers in a file, for one process. Accepted timers survive a
 * crash. Timers that became due while the process did not run are published when it starts. Throws if the file cannot be
 * used.
 */
export function timerFile({ path, publish, clock, onWarning }: TimerFileOptions): TimerFile {
  const store = openTimerStore(path);
  const closing = new AbortController();
  const inFlight = new Map<number, Promise<void>>();
  let wakeUp = new AbortController();

  /** Checks for due timers now. */
  function checkNow(): void {
    wakeUp.abort();
  }

  /** If the file cannot be written, the error ends the process. Otherwise it would publish the same message repeatedly. */
  async function fire(timer: Timer): Promise<void> {
    const reply = await publish(timer.topic, store.body(timer));
    if (reply.ok) {
      store.fired(timer, clock.now());
      return;
    }
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** timer.refusals, MAX_PAUSE_MS);
    store.putOff(timer, clock.now() + pauseMs);
    const { topic, name } = timer;
    onWarning('a timer could not be published', { topic, name, againInMs: pauseMs, problem: reply.problem });
  }

  /** Publishes due timers, within the limit. Returns when the next timer is due. */
  function fireDue(): number | undefined {
    const room = MAX_IN_FLIGHT - inFlight.size;
    if (room === 0) return undefined;
    const next = store.first(MAX_IN_FLIGHT + 1).filter(({ key }) => !inFlight.has(key));
    const due = next.slice(0, room).filter(({ dueMs }) => dueMs <= clock.now());
    for (const timer of due) {
      const firing = fire(timer).then(() => {
        inFlight.delete(timer.key);
        checkNow();
      });
      inFlight.set(timer.key, firing);
    }
    return next[due.length]?.dueMs;
  }

  const running = (async () => {
    while (!closing.signal.aborted) {
      wakeUp = new AbortController();
      store.forget(clock.now() - REMEMBER_FIRED_MS);
      const nextDueMs = fireDue() ?? Number.POSITIVE_INFINITY;
      // At the limit, the next publication that ends wakes it up.
      const sleepMs = inFlight.size === MAX_IN_FLIGHT ? MAX_SLEEP_MS : nextDueMs - clock.now();
      const anySignal = AbortSignal.any([wakeUp.signal, closing.signal]);
      await clock.sleep(Math.max(0, Math.min(sleepMs, MAX_SLEEP_MS)), anySignal);
    }
  })();

  const close = once(async () => {
    closing.abort();
    await running;
    await Promise.all(inFlight.values());
    store.close();
  });

  return {
    schedule: async (publication) => {
      if (closing.signal.aborted) return { ok: false, problem: 'the timer file is being closed' };
      try {
        const isNew = store.add(publication);
        if (isNew) checkNow();
        return { ok: true, isNew };
      } catch (error) {
        return { ok: false, problem: `${path}: ${(error as Error).message}` };
      }
    },
    close,
    get waiting() {
      return store.count();
    },
  };
}
