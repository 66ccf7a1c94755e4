import { defined } from '../../core/text/defined.ts';
import type { ActorSpec, Manifest } from '../manifest/manifest.ts';
import { BUNDLED_ADDRESS } from '../settings/bundled-runtime.ts';
import type { SidecarConfig } from '../settings/host-config.ts';
import { queueName } from '../settings/queue-name.ts';
import { readSidecarConfig } from '../settings/read-host-config.ts';
import type { SecretReferences } from '../settings/secret-reference.ts';
import { crewPlans, timerPlan } from './crew-plan.ts';
import { edgesOf } from './edges.ts';
import {
  type ActorPlan,
  baseConfig,
  type FunctionPlan,
  MAX_FUNCTION_SECONDS,
  OVERHEAD_SECONDS,
  type PlanSettings,
  plannedQueue,
  replicasOf,
  reportingTo,
} from './function-plan.ts';

/** The functions of a mesh: the same plan for the local mesh and for the infrastructure. */
export interface MeshPlan {
  readonly functions: readonly FunctionPlan[];
}

/** How much longer the visibility timeout is than the function's timeout. */
const VISIBILITY_MARGIN_SECONDS = 30;

export function planMesh(manifest: Manifest, settings: PlanSettings): MeshPlan {
  const edges = edgesOf(manifest);
  const nameOf = (actor: string) => queueName(actor, settings.namespace);
  const actors = manifest.actors.map((spec): ActorPlan => {
    const { successors, sendsTo = [], escalations = [] } = edges.get(spec.name) ?? {};
    const queue = plannedQueue(spec.name, visibilityOf(spec), settings);
    return {
      actor: spec.name,
      folder: 'sidecar',
      queue,
      sources: [queue.name],
      batchSize: spec.scaling.batchSize,
      batchWindowSeconds: spec.scaling.batchWindowSeconds,
      maxReplicas: replicasOf(spec.scaling.maxReplicas, settings),
      timeoutSeconds: functionSeconds(spec),
      memoryMb: spec.memoryMb,
      config: sidecarConfig(spec, successors, settings),
      runtime: spec.runtime,
      environment: spec.environment,
      ...defined({ secretKeys: keysOf(spec) }),
      ...defined({ access: spec.access }),
      labels: spec.labels,
      sendsTo: [...new Set([queue.name, ...[...sendsTo].map(nameOf), nameOf('x-sink'), ...escalations])],
    };
  });
  const timer = settings.gateway === undefined ? [] : [timerPlan(settings)];
  return { functions: [...actors, ...crewPlans(manifest, settings), ...timer] };
}

/** Time for the calls of a whole batch, up to Lambda's maximum. Remaining envelopes are sent again unchanged. */
function functionSeconds({ timeoutMs, scaling }: ActorSpec): number {
  const rounds = Math.ceil(scaling.batchSize / scaling.concurrency);
  return Math.min(Math.ceil((rounds * timeoutMs) / 1000) + OVERHEAD_SECONDS, MAX_FUNCTION_SECONDS);
}

/** Twice the actor's timeout, and at least as long as the function may hold a message. */
export function visibilityOf(spec: ActorSpec): number {
  const { timeoutMs, visibilitySeconds } = spec;
  const least = maxHoldSeconds(spec) + VISIBILITY_MARGIN_SECONDS;
  return visibilitySeconds ?? Math.max(Math.ceil((2 * timeoutMs) / 1000), least);
}

/** How long a function may hold a message: the batch window and its timeout. */
export function maxHoldSeconds(spec: ActorSpec): number {
  return functionSeconds(spec) + spec.scaling.batchWindowSeconds;
}

function sidecarConfig(
  spec: ActorSpec,
  routeAllow: ReadonlySet<string> | undefined,
  settings: PlanSettings,
): SidecarConfig {
  const base = baseConfig(readSidecarConfig, spec.name, settings);
  const { runtime } = spec;
  return {
    ...base,
    ...reportingTo(settings),
    actor: {
      ...base.actor,
      timeoutMs: spec.timeoutMs,
      ...defined({ routeAllow }),
      resiliency: spec.resiliency,
    },
    runtime: {
      ...base.runtime,
      address: runtime.kind === 'url' ? { kind: 'http', url: runtime.url } : BUNDLED_ADDRESS,
      concurrency: spec.scaling.concurrency,
      ...defined({ secrets: referencesOf(spec) }),
    },
    sqs: { ...base.sqs, visibilitySeconds: visibilityOf(spec) },
  };
}

function referencesOf({ secrets }: ActorSpec): SecretReferences | undefined {
  if (secrets === undefined) return undefined;
  return Object.fromEntries(Object.entries(secrets).map(([name, { reference }]) => [name, reference]));
}

function keysOf({ secrets = {} }: ActorSpec): readonly string[] | undefined {
  const keys = new Set(Object.values(secrets).flatMap(({ kmsKey }) => kmsKey ?? []));
  return keys.size === 0 ? undefined : [...keys];
}
