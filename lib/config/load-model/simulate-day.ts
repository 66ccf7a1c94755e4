import type { ScaledMesh } from '../scaling/mesh-demand.ts';
import { executionsFor } from '../scaling/tuned-mesh.ts';
import type { Workload } from '../scaling/workload.ts';
import { DAY_MS, dayOfArrivals } from './arrivals.ts';
import { type LoadResult, lambdaHost } from './load.ts';
import { simulateLoad } from './simulate-load.ts';

export interface DayOptions {
  /** Selects the times of the bursts. At least 0 and less than 1. */
  readonly random: () => number;
  /** The actor, or `STORES`, that fails from 14:00 to 15:00. Default: none. */
  readonly outage?: string;
}

const HOUR_MS = 3_600_000;
const STEP_MS = 10_000;
const OUTAGE = { fromMs: 14 * HOUR_MS, untilMs: 15 * HOUR_MS } as const;

/** A day of a mesh on Lambda, hour by hour. The account has executions for all copies that the mesh may run. */
export function simulateDay(
  mesh: ScaledMesh,
  workload: Workload,
  { random, outage }: DayOptions,
): LoadResult {
  return simulateLoad({
    mesh,
    workload,
    arrivals: dayOfArrivals(workload.ratePerSecond, random),
    outages: outage === undefined ? [] : [{ of: outage, ...OUTAGE }],
    durationMs: DAY_MS,
    stepMs: STEP_MS,
    sampleMs: HOUR_MS,
    host: lambdaHost(executionsFor(mesh)),
  });
}
