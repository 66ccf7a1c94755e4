import { defined } from '../../core/text/defined.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { crewRole } from '../settings/crew-role.ts';
import type { GatewayConfig } from '../settings/host-config.ts';
import { deadLetterQueueName, queueName } from '../settings/queue-name.ts';
import { readGatewayConfig, readSidecarConfig } from '../settings/read-host-config.ts';
import {
  type ActorPlan,
  baseConfig,
  type FunctionPlan,
  OVERHEAD_SECONDS,
  type PlanSettings,
  plannedQueue,
  replicasOf,
  reportingTo,
} from './function-plan.ts';
import { GATEWAY } from './gateway-plan.ts';
import { CREW_TIMEOUT_MS, CREW_VISIBILITY_SECONDS } from './queue-plan.ts';

export const CREW = ['x-sink', 'x-sump', 'x-dlq'] as const;
const CREW_BATCH = 10;
/** x-sink's batch with a window. Larger batches would not make an envelope noticeably cheaper. */
const COLLECTED_BATCH = 100;
const CREW_MEMORY_MB = 256;
const CREW_REPLICAS = 10;

export function crewPlans(manifest: Manifest, settings: PlanSettings): readonly ActorPlan[] {
  const crewSeconds = CREW_TIMEOUT_MS / 1000 + OVERHEAD_SECONDS;
  return CREW.map((name): ActorPlan => {
    const base = baseConfig(readSidecarConfig, name, settings);
    const crew = crewRole(name, base.sump, settings.namespace);
    const isDlq = name === 'x-dlq';
    const windowSeconds = name === 'x-sink' ? (settings.archiveWindowSeconds ?? 0) : 0;
    const batchSize = windowSeconds === 0 ? CREW_BATCH : COLLECTED_BATCH;
    const visibilitySeconds = CREW_VISIBILITY_SECONDS + windowSeconds;
    const queue = isDlq ? undefined : plannedQueue(name, visibilitySeconds, settings);
    const timers = settings.gateway === undefined ? [] : [GATEWAY];
    const drained = [...manifest.actors.map((actor) => actor.name), 'x-sink', 'x-sump', ...timers];
    return {
      actor: name,
      folder: name,
      ...defined({ queue }),
      sources:
        queue === undefined
          ? drained.map((actor) => deadLetterQueueName(queueName(actor, settings.namespace)))
          : [queue.name],
      ...(isDlq ? { drains: drained } : {}),
      batchSize,
      batchWindowSeconds: windowSeconds,
      maxReplicas: settings.crewReplicas ?? replicasOf(CREW_REPLICAS, settings),
      timeoutSeconds: crewSeconds,
      memoryMb: CREW_MEMORY_MB,
      config: {
        ...base,
        actor: {
          ...base.actor,
          timeoutMs: CREW_TIMEOUT_MS,
          ...defined({ crew }),
        },
        runtime: { ...base.runtime, concurrency: batchSize },
        sqs: { ...base.sqs, visibilitySeconds },
        storage: settings.storage,
        ...(name === 'x-sink' && defined({ archives: settings.archives })),
        ...defined({ gatewayUrl: settings.gatewayUrl }),
        ...reportingTo(settings),
      },
      environment: {},
      sendsTo: [
        ...(queue === undefined ? [] : [queue.name]),
        ...(name === 'x-sink' ? [queueName('x-sump', settings.namespace)] : []),
      ],
    };
  });
}

/** The gateway's timers: delayed messages to itself, which remain when the process that sent them ends. */
export function timerPlan(settings: PlanSettings): FunctionPlan<GatewayConfig> {
  const base = baseConfig(readGatewayConfig, GATEWAY, settings);
  const queue = plannedQueue(GATEWAY, CREW_VISIBILITY_SECONDS, settings);
  return {
    actor: GATEWAY,
    folder: 'gateway-timer',
    queue,
    sources: [queue.name],
    batchSize: CREW_BATCH,
    batchWindowSeconds: 0,
    maxReplicas: replicasOf(10, settings),
    timeoutSeconds: CREW_TIMEOUT_MS / 1000 + OVERHEAD_SECONDS,
    memoryMb: CREW_MEMORY_MB,
    config: {
      ...base,
      actor: { ...base.actor, timeoutMs: CREW_TIMEOUT_MS },
      sqs: { ...base.sqs, visibilitySeconds: CREW_VISIBILITY_SECONDS },
      storage: settings.storage,
    },
    environment: {},
    sendsTo: [queue.name],
  };
}
