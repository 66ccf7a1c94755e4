import type { FunctionPlan } from '../plan/function-plan.ts';
import { IN_FLIGHT_MESSAGES } from '../scaling/quotas.ts';
import { storedPerSecond } from '../scaling/store-limits.ts';
import type { Workload } from '../scaling/workload.ts';
import { nextCopies, type Pace, paceOf } from './event-source.ts';
import type { Host } from './load.ts';
import { type Cohort, waitingLine } from './waiting-line.ts';

/** A function with its queue during a load. */
export interface FunctionState {
  readonly plan: FunctionPlan;
  readonly oldestMs: () => number | undefined;
  /** Messages, visible and delayed. */
  backlog(): number;
  arrive(cohort: Cohort): void;
  /** They arrive with the next step. Until then they are in no queue. */
  arriveNext(cohort: Cohort): void;
  /** They arrive at this time. `isHidden`: until then they are in flight. */
  arriveLater(cohort: Cohort, atMs: number, isHidden: boolean): void;
  /** Moves what is due by now into the line, and returns what the function could do in the next step. */
  prepare(now: number): Turn;
  /** Takes this share of what is possible, and scales the copies for the next step. */
  process(turn: Turn, share: number): Work;
}

interface Turn {
  readonly pace: Pace;
  /** Records that it would process if the account had executions for it. */
  readonly records: number;
  /** The concurrent executions that it needs for them. */
  readonly executions: number;
}

export interface Work {
  readonly cohorts: readonly Cohort[];
  readonly records: number;
  readonly invocations: number;
  readonly copies: number;
}

interface Delayed {
  readonly cohort: Cohort;
  readonly isHidden: boolean;
}

export function functionState(
  plan: FunctionPlan,
  { host, workload, stepMs }: { readonly host: Host; readonly workload: Workload; readonly stepMs: number },
): FunctionState {
  const line = waitingLine();
  const mayBeStored = storedPerSecond(plan.folder) * (stepMs / 1000);
  let arriving: Cohort[] = [];
  const delayed = new Map<number, Delayed[]>();
  let delayedAmount = 0;
  let hiddenAmount = 0;
  let copies = Math.min(host.start, plan.maxReplicas);

  const count = ({ cohort, isHidden }: Delayed, sign: 1 | -1) => {
    if (isHidden) hiddenAmount += sign * cohort.amount;
    else delayedAmount += sign * cohort.amount;
  };
  const executionsFor = (records: number, pace: Pace) =>
    ((records / pace.records) * pace.invocationMs) / stepMs;

  return {
    plan,
    oldestMs: line.oldestMs,
    backlog: () => line.amount + delayedAmount,
    arrive: line.add,
    arriveNext: (cohort) => {
      arriving.push(cohort);
    },
    arriveLater: (cohort, atMs, isHidden) => {
      const step = Math.ceil(atMs / stepMs);
      const entry = { cohort, isHidden };
      count(entry, 1);
      delayed.set(step, [...(delayed.get(step) ?? []), entry]);
    },
    prepare: (now) => {
      for (const cohort of arriving) line.add(cohort);
      arriving = [];
      const step = Math.floor(now / stepMs);
      for (const entry of delayed.get(step) ?? []) {
        count(entry, -1);
        line.add(entry.cohort);
      }
      delayed.delete(step);
      const pace = paceOf(plan, { waiting: line.amount, copies, stepMs }, host, workload);
      const mayBeInFlight = Math.max(0, IN_FLIGHT_MESSAGES - hiddenAmount);
      const records = Math.min(line.amount, pace.capacity, mayBeInFlight, mayBeStored);
      return { pace, records, executions: executionsFor(records, pace) };
    },
    process: ({ pace, records: possible }, share) => {
      const records = possible * share;
      const isBehind = line.amount > pace.capacity;
      const busy = executionsFor(records, pace);
      const cohorts = line.take(records);
      copies = nextCopies(copies, plan, { busy, isBehind, stepMs }, host);
      return { cohorts, records, invocations: records / pace.records, copies: busy };
    },
  };
}
