import { sum } from './function-limits.ts';
import { withHeadroom } from './limit.ts';
import { demandOf, type ScaledMesh } from './mesh-demand.ts';
import { ACCOUNT_CONCURRENCY, EVENT_SOURCE } from './quotas.ts';
import type { Workload } from './workload.ts';

/** The mesh after the numbers of copies that a report advises were set. Batches and calls stay as they are. */
export function tunedMesh(mesh: ScaledMesh, workload: Workload): ScaledMesh {
  const copies = new Map(demandOf(mesh, workload).map(({ plan, copies: each }) => [plan.actor, each]));
  const functions = mesh.functions.map((plan) => {
    // The crew has one setting. x-sink needs the most: every envelope ends there.
    const like = plan.folder === 'sidecar' ? plan.actor : 'x-sink';
    const needed = withHeadroom((copies.get(like) ?? 0) * workload.ratePerSecond);
    return { ...plan, maxReplicas: Math.min(EVENT_SOURCE.max, Math.max(plan.maxReplicas, needed)) };
  });
  return { ...mesh, functions };
}

/** The quota of concurrent executions with which all copies of a mesh can run at the same time. */
export function executionsFor({ functions }: ScaledMesh): number {
  return Math.max(ACCOUNT_CONCURRENCY, sum(functions.map(({ maxReplicas }) => maxReplicas)));
}
