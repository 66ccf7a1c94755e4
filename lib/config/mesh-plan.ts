import { type Mistake, mistakesText } from '../core/mistake.ts';
import { edgesOf } from './edges.ts';
import { readEnvironment } from './environment.ts';
import type { ActorSpec, Flow, Manifest, RuntimeSpec } from './manifest.ts';
import { deadLetterQueueName, queueName } from './queue-name.ts';
import {
  CREW_TIMEOUT_MS,
  CREW_VISIBILITY_SECONDS,
  type QueueChoices,
  type QueuePlan,
  queuePlan,
} from './queue-plan.ts';
import type { SidecarConfig, Storage } from './sidecar-config.ts';

/** A mesh as it is run: the one source for the local mesh and for the infrastructure. */
export interface MeshPlan {
  readonly functions: readonly FunctionPlan[];
}

/** One function, with its queue where it has one, and the queues it is fed from. */
export interface FunctionPlan {
  readonly actor: string;
  /** The folder in `functions/`. */
  readonly folder: 'sidecar' | 'x-sink' | 'x-sump' | 'x-dlq' | 'gateway-timer' | 'gateway';
  /** Undefined for x-dlq, which lives on the queues of others. */
  readonly queue?: PlannedQueue;
  /** The queues whose messages invoke it. */
  readonly sources: readonly string[];
  readonly batchSize: number;
  readonly batchWindowSeconds: number;
  readonly maxReplicas: number;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** What the sidecar in it is told. */
  readonly config: SidecarConfig;
  /** Undefined for the crew. */
  readonly runtime?: RuntimeSpec;
  readonly environment: Readonly<Record<string, string>>;
  /** Every queue that it may send to. */
  readonly sendsTo: readonly string[];
}

export interface PlannedQueue {
  readonly name: string;
  readonly deadLetterName: string;
  readonly plan: QueuePlan;
}

export interface PlanSettings {
  readonly namespace?: string;
  readonly region: string;
  readonly storage: Storage;
  readonly sqsEndpoint?: string;
  readonly gatewayUrl?: string;
  /** Set where the mesh has a gateway: then everybody reports to it, and its timers have a queue. */
  readonly gateway?: { readonly url: string; readonly secret: string };
  readonly logLevel?: SidecarConfig['logLevel'];
  readonly queues?: QueueChoices;
  /** No function has more copies, whatever its manifest says: what the account or the machine can bear. */
  readonly mostReplicas?: number;
}

/** The gateway's name among the mesh's own actors, and its queue's. */
export const GATEWAY = 'x-gateway';
export const CREW = ['x-sink', 'x-sump', 'x-dlq'] as const;
/** Lambda's longest. */
export const LONGEST_FUNCTION_SECONDS = 900;
/** What a host needs beside the calls: to load, to start the runtime, to make the last sends. */
const BESIDE_CALLS_SECONDS = 5;
/** SPEC.md: the queue hides a message for so much longer than its function may take. */
const VISIBILITY_MARGIN_SECONDS = 30;
/** Over HTTP a handler can be told the envelope's id, the attempt and the deadline, which the bare socket cannot. */
const OVER_SOCKET = { kind: 'http-over-socket', path: '/tmp/sockets/app.sock', resource: '/invoke' } as const;
const CREW_BATCH = 10;
const CREW_MEMORY_MB = 256;
const CREW_REPLICAS = 10;

/** The longest that an actor's call may take on Lambda. */
export const LONGEST_ACTOR_TIMEOUT_MS = (LONGEST_FUNCTION_SECONDS - BESIDE_CALLS_SECONDS) * 1000;

export function planMesh(manifest: Manifest, settings: PlanSettings): MeshPlan {
  const edges = edgesOf(manifest);
  const nameOf = (actor: string) => queueName(actor, settings.namespace);
  const actors = manifest.actors.map((spec): FunctionPlan => {
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
      sendsTo: [...new Set([queue.name, ...[...sendsTo].map(nameOf), nameOf('x-sink'), ...escalations])],
    };
  });
  const timer = settings.gateway === undefined ? [] : [timerPlan(settings)];
  return { functions: [...actors, ...crewPlans(manifest, settings), ...timer] };
}

/** Time for the calls of a whole batch, as far as Lambda allows; what is left over is sent again unchanged. */
export function functionSeconds({ timeoutMs, scaling }: ActorSpec): number {
  const rounds = Math.ceil(scaling.batchSize / scaling.concurrency);
  return Math.min(Math.ceil((rounds * timeoutMs) / 1000) + BESIDE_CALLS_SECONDS, LONGEST_FUNCTION_SECONDS);
}

/** Twice the actor's timeout, and never less than the function may hold a message. */
export function visibilityOf(spec: ActorSpec): number {
  const { timeoutMs, visibilitySeconds } = spec;
  const least = heldSeconds(spec) + VISIBILITY_MARGIN_SECONDS;
  return visibilitySeconds ?? Math.max(Math.ceil((2 * timeoutMs) / 1000), least);
}

/** For how long a function may hold a message: while its batch fills, and while it works. */
export function heldSeconds(spec: ActorSpec): number {
  return functionSeconds(spec) + spec.scaling.batchWindowSeconds;
}

function replicasOf(wanted: number, { mostReplicas = wanted }: PlanSettings): number {
  return Math.min(wanted, mostReplicas);
}

function plannedQueue(actor: string, visibilitySeconds: number, settings: PlanSettings): PlannedQueue {
  const { namespace, queues } = settings;
  return {
    name: queueName(actor, namespace),
    deadLetterName: deadLetterQueueName(actor, namespace),
    plan: queuePlan(visibilitySeconds, queues),
  };
}

function sidecarConfig(
  spec: ActorSpec,
  routeAllow: ReadonlySet<string> | undefined,
  settings: PlanSettings,
): SidecarConfig {
  const base = baseConfig(spec.name, settings);
  const { runtime } = spec;
  return {
    ...base,
    ...reportingTo(settings),
    actor: {
      ...base.actor,
      timeoutMs: spec.timeoutMs,
      ...(routeAllow === undefined ? {} : { routeAllow }),
      resiliency: spec.resiliency,
    },
    runtime: {
      ...base.runtime,
      address: runtime.kind === 'url' ? { kind: 'http', url: runtime.url } : OVER_SOCKET,
      concurrency: spec.scaling.concurrency,
    },
    sqs: { ...base.sqs, visibilitySeconds: visibilityOf(spec) },
  };
}

function crewPlans(manifest: Manifest, settings: PlanSettings): readonly FunctionPlan[] {
  const crewSeconds = CREW_TIMEOUT_MS / 1000 + BESIDE_CALLS_SECONDS;
  return CREW.map((name): FunctionPlan => {
    const base = baseConfig(name, settings);
    const isDlq = name === 'x-dlq';
    const queue = isDlq ? undefined : plannedQueue(name, CREW_VISIBILITY_SECONDS, settings);
    const timers = settings.gateway === undefined ? [] : [GATEWAY];
    const drained = [...manifest.actors.map((actor) => actor.name), 'x-sink', 'x-sump', ...timers];
    return {
      actor: name,
      folder: name,
      ...(queue === undefined ? {} : { queue }),
      sources:
        queue === undefined
          ? drained.map((actor) => deadLetterQueueName(actor, settings.namespace))
          : [queue.name],
      batchSize: CREW_BATCH,
      batchWindowSeconds: 0,
      maxReplicas: replicasOf(CREW_REPLICAS, settings),
      timeoutSeconds: crewSeconds,
      memoryMb: CREW_MEMORY_MB,
      config: {
        ...base,
        actor: { ...base.actor, timeoutMs: CREW_TIMEOUT_MS },
        runtime: { ...base.runtime, concurrency: CREW_BATCH },
        sqs: { ...base.sqs, visibilitySeconds: CREW_VISIBILITY_SECONDS },
        storage: settings.storage,
        ...(settings.gatewayUrl === undefined ? {} : { gatewayUrl: settings.gatewayUrl }),
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

function reportingTo({ gateway }: PlanSettings): Pick<SidecarConfig, 'gatewayUrl' | 'gatewaySecret'> {
  return gateway === undefined ? {} : { gatewayUrl: gateway.url, gatewaySecret: gateway.secret };
}

/** The gateway's backstops: delayed messages to itself, which outlive whoever set them. */
function timerPlan(settings: PlanSettings): FunctionPlan {
  const base = baseConfig(GATEWAY, settings);
  const queue = plannedQueue(GATEWAY, CREW_VISIBILITY_SECONDS, settings);
  return {
    actor: GATEWAY,
    folder: 'gateway-timer',
    queue,
    sources: [queue.name],
    batchSize: CREW_BATCH,
    batchWindowSeconds: 0,
    maxReplicas: replicasOf(10, settings),
    timeoutSeconds: CREW_TIMEOUT_MS / 1000 + BESIDE_CALLS_SECONDS,
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

export interface GatewayPlanSettings extends PlanSettings {
  /** Who may call, as `ASYA_GATEWAY_KEYS` takes it. */
  readonly keys: string;
  /** What reports are signed with. */
  readonly reportSecret: string;
}

/** The gateway as a function: it sends to where flows begin and to its own timers, and to nobody else. */
export function gatewayPlan({ flows }: Manifest, settings: GatewayPlanSettings): FunctionPlan {
  const base = baseConfig(GATEWAY, settings);
  const { namespace, storage, keys, reportSecret } = settings;
  const entrypoints = new Set(flows.map(({ entrypoint }) => queueName(entrypoint, namespace)));
  return {
    actor: GATEWAY,
    folder: 'gateway',
    sources: [],
    batchSize: 1,
    batchWindowSeconds: 0,
    maxReplicas: replicasOf(GATEWAY_REPLICAS, settings),
    // A stream of events lasts as long as its task, as far as Lambda allows.
    timeoutSeconds: LONGEST_FUNCTION_SECONDS,
    memoryMb: GATEWAY_MEMORY_MB,
    config: {
      ...base,
      storage,
      gatewaySecret: reportSecret,
      gateway: { ...base.gateway, keys, flowsFile: GATEWAY_FLOWS_FILE },
    },
    environment: {},
    sendsTo: [...entrypoints, queueName(GATEWAY, namespace)],
  };
}

/** Beside the gateway's code. */
export const GATEWAY_FLOWS_FILE = 'flows.json';
const GATEWAY_REPLICAS = 100;
const GATEWAY_MEMORY_MB = 512;

/** As `flows.yaml` holds them: JSON is YAML too. */
export function flowsFileText(flows: readonly Flow[]): string {
  const entries = flows.map(({ name, entrypoint, routeNext, description, timeoutSeconds, mcp, a2a }) => ({
    name,
    entrypoint,
    route_next: routeNext,
    description,
    timeout: timeoutSeconds,
    mcp,
    a2a,
  }));
  return `${JSON.stringify({ flows: entries }, null, 2)}\n`;
}

/** What is the same in all of them is what a sidecar is told by default: there is one table of that. */
function baseConfig(
  name: string,
  { namespace, region, sqsEndpoint, logLevel = 'info' }: PlanSettings,
): SidecarConfig {
  const variables = {
    ASYA_ACTOR_NAME: name,
    ASYA_TRANSPORT: 'sqs',
    ASYA_AWS_REGION: region,
    ASYA_LOG_LEVEL: logLevel,
    ASYA_METRICS_ADDR: '',
    ...(namespace === undefined ? {} : { ASYA_NAMESPACE: namespace }),
    ...(sqsEndpoint === undefined ? {} : { ASYA_SQS_ENDPOINT: sqsEndpoint }),
  };
  const reading = readEnvironment(variables, () => ({ problem: 'there is no file' }));
  if ('config' in reading) return reading.config;
  throw new PlanRefused(reading.mistakes);
}

/** A mesh that cannot be run under these names: where its queues would be called what no broker takes. */
export class PlanRefused extends Error {
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(mistakesText(mistakes));
    this.mistakes = mistakes;
  }
}
