import { accountLimit, functionLimits } from './function-limits.ts';
import type { Limit } from './limit.ts';
import { demandOf, type ScaledMesh } from './mesh-demand.ts';
import { storeLimits } from './store-limits.ts';
import type { Workload } from './workload.ts';

export interface ScalingReport {
  /** All limits, those that are reached at the lowest rate first. */
  readonly limits: readonly Limit[];
  /** Those that the workload exceeds. */
  readonly exceeded: readonly Limit[];
  /** The first limit that no setting removes, and the rate at which it is reached. */
  readonly hard: { readonly limit: Limit; readonly rate: number };
}

/** Where the limits of a mesh are under a workload, with full batches. */
export function scalingReport(mesh: ScaledMesh, workload: Workload): ScalingReport {
  const demands = demandOf(mesh, workload);
  const limits = [
    ...functionLimits(demands, workload),
    accountLimit(demands, workload),
    ...storeLimits(demands, workload),
  ].sort((one, other) => one.maxRate - other.maxRate);
  const hardRate = ({ maxRate, limit, raisableTo }: Limit) => maxRate * (raisableTo / limit);
  const first = limits.reduce((least, one) => (hardRate(one) < hardRate(least) ? one : least));
  return {
    limits,
    exceeded: limits.filter(({ needed, limit }) => needed > limit),
    hard: { limit: first, rate: hardRate(first) },
  };
}
