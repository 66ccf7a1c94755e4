import { once } from '../../async/once.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PublishRequest } from '../../ports/publish-request.ts';
import type { ScheduledPublish } from '../../ports/scheduled-publish.ts';
import { openTimerStore, type Timer } from './timer-store.ts';

export interface TimerFileOptions {
  /** Made where it is missing. */
  readonly path: string;
  readonly publish: PublishRequest;
  readonly clock: Clock;
  readonly onTrouble: (what: string, details: Readonly<Record<string, string | number>>) => void;
}

export interface TimerFile extends ScheduledPublish {
  /** How many are still to be published. */
  readonly waiting: number;
}

const MAX_AT_ONCE = 50;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** A machine that was asleep, or whose clock was set, is looked after this often. */
const MAX_SLEEP_MS = 300_000;
/** Cloud Tasks remembers the names of its tasks for an hour or longer. */
const REMEMBER_FIRED_MS = 24 * 3_600_000;

/**
 * Stands in for Cloud Tasks where that is not to be had: timers in one file, one process, no limits of its own. What was
 * accepted survives a kill; what was due meanwhile fires at once after a start. Throws where the file cannot be used.
 */
export function timerFile({ path, publish, clock, onTrouble }: TimerFileOptions): TimerFile {
  const store = openTimerStore(path);
  const closing = new AbortController();
  const inHand = new Map<number, Promise<void>>();
  let alarm = new AbortController();

  /** Looks again now: something changed. */
  function look(): void {
    alarm.abort();
  }

  /** A file that cannot be written any more ends the process: going on would publish the same again and again. */
  async function fire(timer: Timer): Promise<void> {
    const reply = await publish(timer.topic, store.body(timer));
    if (reply.ok) {
      store.fired(timer, clock.now());
      return;
    }
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** timer.refusals, MAX_PAUSE_MS);
    store.putOff(timer, clock.now() + pauseMs);
    const { topic, name } = timer;
    onTrouble('a timer could not be published', { topic, name, againInMs: pauseMs, problem: reply.problem });
  }

  /** Fires what is due, as far as there is room; what it gives is when the next one is due. */
  function fireDue(): number | undefined {
    const room = MAX_AT_ONCE - inHand.size;
    if (room === 0) return undefined;
    const next = store.first(MAX_AT_ONCE + 1).filter(({ key }) => !inHand.has(key));
    const due = next.slice(0, room).filter(({ dueMs }) => dueMs <= clock.now());
    for (const timer of due) {
      const firing = fire(timer).then(() => {
        inHand.delete(timer.key);
        look();
      });
      inHand.set(timer.key, firing);
    }
    return next[due.length]?.dueMs;
  }

  const running = (async () => {
    while (!closing.signal.aborted) {
      alarm = new AbortController();
      store.forget(clock.now() - REMEMBER_FIRED_MS);
      const nextDueMs = fireDue() ?? Number.POSITIVE_INFINITY;
      // Where there is no room, whoever is done looks again.
      const sleepMs = inHand.size === MAX_AT_ONCE ? MAX_SLEEP_MS : nextDueMs - clock.now();
      const anySignal = AbortSignal.any([alarm.signal, closing.signal]);
      await clock.sleep(Math.max(0, Math.min(sleepMs, MAX_SLEEP_MS)), anySignal);
    }
  })();

  const close = once(async () => {
    closing.abort();
    await running;
    await Promise.all(inHand.values());
    store.close();
  });

  return {
    schedule: async (publication) => {
      if (closing.signal.aborted) return { ok: false, problem: 'the timers are about to end' };
      try {
        const isNew = store.add(publication);
        if (isNew) look();
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
