import type { Task } from '../../core/task/task.ts';
import type { Clock } from '../../ports/clock.ts';
import { ACCEPTED, type Reply } from '../../ports/reply.ts';
import type { SweepTimer, Timer } from './gateway-deps.ts';

export interface BackstopsDeps {
  readonly arm: (timer: Timer) => Promise<Reply>;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Tasks that are created within such a period can share a timer. */
const PERIOD_MS = 30_000;
/** An index of the table may lag behind, and the clocks of two functions may differ. */
const MARGIN_MS = 5_000;
/** The first tasks of a period have timers of their own: if there are only a few, that is cheaper than a search. */
const OWN_TIMERS = 5;

/** Tasks of one caller with the same timeout that were created in the same period. */
interface Period {
  readonly endMs: number;
  tasks: number;
  shared?: Promise<Reply>;
}

/**
 * Returns a function that arms the backstop of a new task. Many tasks of a caller share a timer, which finds the overdue
 * ones among them in the table: a message for each task would cost more than its share of the search.
 */
export function backstops({ arm, clock, newId }: BackstopsDeps): (task: Task) => Promise<Reply> {
  const periods = new Map<string, Period>();

  function periodOf({ owner, createdMs }: Task, timeoutMs: number): Period {
    const key = JSON.stringify([owner, timeoutMs]);
    const endMs = createdMs - (createdMs % PERIOD_MS) + PERIOD_MS;
    const known = periods.get(key);
    if (known?.endMs === endMs) return known;
    periods.delete(key);
    forgetPast();
    const period = { endMs, tasks: 0 };
    periods.set(key, period);
    return period;
  }

  /** The oldest periods come first. */
  function forgetPast(): void {
    for (const [key, { endMs }] of periods) {
      if (endMs > clock.now()) break;
      periods.delete(key);
    }
  }

  async function armShared(period: Period, owner: string, timeoutMs: number): Promise<Reply> {
    const { endMs } = period;
    const sweep: SweepTimer = {
      id: newId(),
      owner,
      fromMs: endMs - PERIOD_MS,
      toMs: endMs - 1,
      timeoutMs,
      dueMs: endMs + timeoutMs + MARGIN_MS,
    };
    const reply = await arm(sweep);
    // The next task tries again.
    if (!reply.ok) delete period.shared;
    return reply;
  }

  return async (task) => {
    const { id, owner, createdMs, deadlineMs } = task;
    if (deadlineMs === undefined) return ACCEPTED;
    const timeoutMs = deadlineMs - createdMs;
    const period = periodOf(task, timeoutMs);
    if (period.tasks++ < OWN_TIMERS) return arm({ task: id, dueMs: deadlineMs });
    period.shared ??= armShared(period, owner, timeoutMs);
    return period.shared;
  };
}
