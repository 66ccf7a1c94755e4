/** Envelopes that wait at a function and share their history. The amount is not a whole number. */
export interface Cohort {
  readonly amount: number;
  /** Deliveries including the next one. */
  readonly attempt: number;
  /** When their messages were sent. */
  readonly sentMs: number;
  /** When they first arrived at the function. */
  readonly bornMs: number;
  /** They failed at an actor, and x-sink forwards them to x-sump. */
  readonly isFailed: boolean;
}

/** The visible messages of a queue, first in, first out. */
export interface WaitingLine {
  readonly amount: number;
  add(cohort: Cohort): void;
  /** Removes at most this amount from the front. */
  take(amount: number): readonly Cohort[];
  /** When the oldest message was sent. Undefined if no message is waiting. */
  oldestMs(): number | undefined;
}

/** Cohorts that arrive in the same minute are merged, so that a day of backlog stays small. */
const MERGE_MS = 60_000;
/** Rests of the arithmetic, far below one envelope. */
const NOTHING = 1e-9;

export function waitingLine(): WaitingLine {
  let cohorts: Cohort[] = [];
  let total = 0;
  return {
    get amount() {
      return total;
    },
    add: (cohort) => {
      if (cohort.amount <= NOTHING) return;
      total += cohort.amount;
      const last = cohorts.at(-1);
      if (last !== undefined && isSameMinute(last, cohort))
        cohorts[cohorts.length - 1] = { ...last, amount: last.amount + cohort.amount };
      else cohorts.push(cohort);
    },
    take: (wanted) => {
      const taken: Cohort[] = [];
      let left = Math.min(wanted, total);
      let used = 0;
      while (left > NOTHING) {
        const first = cohorts[used];
        if (first === undefined) break;
        const amount = Math.min(first.amount, left);
        taken.push({ ...first, amount });
        left -= amount;
        if (first.amount - amount > NOTHING) cohorts[used] = { ...first, amount: first.amount - amount };
        else used++;
      }
      cohorts = cohorts.slice(used);
      total = cohorts.reduce((sum, { amount }) => sum + amount, 0);
      return taken;
    },
    oldestMs: () =>
      cohorts.length === 0
        ? undefined
        : cohorts.reduce((oldest, { sentMs }) => Math.min(oldest, sentMs), Number.POSITIVE_INFINITY),
  };
}

function isSameMinute(one: Cohort, other: Cohort): boolean {
  const minute = (ms: number) => Math.floor(ms / MERGE_MS);
  return (
    one.attempt === other.attempt &&
    one.isFailed === other.isFailed &&
    minute(one.sentMs) === minute(other.sentMs) &&
    minute(one.bornMs) === minute(other.bornMs)
  );
}
