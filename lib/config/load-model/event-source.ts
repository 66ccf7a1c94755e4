import type { FunctionPlan } from '../plan/function-plan.ts';
import { invocationMs } from '../scaling/mesh-demand.ts';
import type { Workload } from '../scaling/workload.ts';
import type { Host } from './load.ts';

/** What an event source could do within a step. */
export interface Pace {
  /** Records per invocation. */
  readonly records: number;
  readonly invocationMs: number;
  /** Records that the copies can process within the step. */
  readonly capacity: number;
}

/** How long a message waits at least for a poll. */
const POLL_SECONDS = 0.02;

/**
 * Few messages reach a poller one by one, or as many as arrive within the batch window. If the copies could not keep up
 * like that, messages wait, and batches are full.
 */
export function paceOf(
  plan: FunctionPlan,
  { waiting, copies, stepMs }: { readonly waiting: number; readonly copies: number; readonly stepMs: number },
  host: Host,
  workload: Workload,
): Pace {
  const perSecond = waiting / (stepMs / 1000);
  const arriving = 1 + (perSecond * (plan.batchWindowSeconds + POLL_SECONDS)) / host.pollers;
  const sparse = paceWith(plan, Math.min(plan.batchSize, arriving), copies, stepMs, workload);
  if (sparse.capacity >= waiting) return sparse;
  return paceWith(plan, plan.batchSize, copies, stepMs, workload);
}

function paceWith(
  plan: FunctionPlan,
  records: number,
  copies: number,
  stepMs: number,
  workload: Workload,
): Pace {
  const durationMs = invocationMs(plan, records, workload);
  return { records, invocationMs: durationMs, capacity: ((copies * stepMs) / durationMs) * records };
}

/** An event source that keeps up has somewhat more copies than are busy. */
const SPARE = 1.2;

/** The copies that an event source may run in the next step. */
export function nextCopies(
  copies: number,
  plan: FunctionPlan,
  { busy, isBehind, stepMs }: { readonly busy: number; readonly isBehind: boolean; readonly stepMs: number },
  host: Host,
): number {
  const least = Math.min(host.start, plan.maxReplicas);
  if (isBehind) return Math.min(plan.maxReplicas, copies + (host.addedPerMinute * stepMs) / 60_000);
  return Math.max(least, Math.min(copies, busy * SPARE + 1));
}
