import type { Manifest } from '../manifest/manifest.ts';
import type { FunctionPlan, PlanSettings } from '../plan/function-plan.ts';
import { planMesh } from '../plan/mesh-plan.ts';
import { CREW_MS, SIDECAR_MS } from './bookkeeping.ts';
import type { Workload } from './workload.ts';

/** A planned mesh and the ways of envelopes through it. */
export interface ScaledMesh {
  /** The functions that receive from queues. */
  readonly functions: readonly FunctionPlan[];
  /** Each way is taken by the same share of the envelopes. */
  readonly routes: readonly (readonly string[])[];
}

/** A mesh without flows is assumed to have one route with all its actors. */
export function scaledMesh(manifest: Manifest, settings: PlanSettings): ScaledMesh {
  const { actors, flows } = manifest;
  const routes = flows.map(({ entrypoint, routeNext }) => [entrypoint, ...routeNext]);
  return {
    functions: planMesh(manifest, settings).functions,
    routes: routes.length > 0 ? routes : [actors.map(({ name }) => name)],
  };
}

/** What one function has to do for each envelope that enters the mesh. */
export interface FunctionDemand {
  readonly plan: FunctionPlan;
  /** Deliveries per envelope. */
  readonly deliveries: number;
  /** Copies per envelope and second, with full batches. */
  readonly copies: number;
}

export function demandOf(mesh: ScaledMesh, workload: Workload): readonly FunctionDemand[] {
  return mesh.functions.map((plan) => {
    const deliveries = deliveriesOf(plan, mesh, workload);
    const seconds = invocationMs(plan, plan.batchSize, workload) / 1000;
    return { plan, deliveries, copies: (deliveries / plan.batchSize) * seconds };
  });
}

/** How long an invocation with this many records takes. */
export function invocationMs(plan: FunctionPlan, records: number, workload: Workload): number {
  if (plan.folder !== 'sidecar') return CREW_MS;
  return SIDECAR_MS + Math.ceil(records / callsAtOnce(plan)) * workload.callMs(plan.actor);
}

/** Calls at the same time in one copy. */
export function callsAtOnce({ config }: FunctionPlan): number {
  return 'runtime' in config ? config.runtime.concurrency : 1;
}

/** Deliveries of a function per envelope that enters the mesh. Retries, timers and dead letters are rare in normal operation. */
function deliveriesOf({ actor, folder }: FunctionPlan, { routes }: ScaledMesh, workload: Workload): number {
  switch (folder) {
    case 'sidecar':
      return routes.flat().filter((name) => name === actor).length / routes.length;
    case 'x-sink':
      return 1;
    case 'x-sump':
      return workload.failedShare;
    default:
      return 0;
  }
}
