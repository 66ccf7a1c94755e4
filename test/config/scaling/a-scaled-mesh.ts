import type { Manifest } from '../../../lib/config/manifest/manifest.ts';
import type { PlanSettings } from '../../../lib/config/plan/function-plan.ts';
import { type ScaledMesh, scaledMesh } from '../../../lib/config/scaling/mesh-demand.ts';
import { DEFAULT_WORKLOAD, type Workload } from '../../../lib/config/scaling/workload.ts';
import { manifestOf } from '../manifest/a-mesh.ts';

const ACTORS = ['first', 'second', 'third'];

/** `scaling` and `resiliency` of an actor, as in its manifest. */
export type ActorFields = Readonly<Record<string, string>>;

/** Three actors in one flow. */
function threeActors(fields: ActorFields = {}): Manifest {
  const actors = ACTORS.map(
    (name) => `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: ${name}}
spec:
  handler: step.js.step
${fields[name] ?? fields['all'] ?? ''}`,
  );
  return manifestOf({
    'actors.yaml': actors.join('---\n'),
    'flows.yaml': 'flows:\n- {name: all, entrypoint: first, route_next: [second, third]}\n',
  });
}

export function aScaledMesh(fields: ActorFields = {}, settings: Partial<PlanSettings> = {}): ScaledMesh {
  return scaledMesh(threeActors(fields), { region: 'us-east-1', storage: {}, ...settings });
}

export function aWorkload(changes: Partial<Workload> = {}): Workload {
  return { ...DEFAULT_WORKLOAD, ...changes };
}
