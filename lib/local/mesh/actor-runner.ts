import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { existingQueue } from '../../adapters/sqs/queue-attributes.ts';
import { sdkSqs } from '../../adapters/sqs/sdk-sqs.ts';
import { type FunctionPlan, isActorPlan } from '../../config/plan/function-plan.ts';
import type { VariableMap } from '../../config/settings/handler-identity.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import { writeEnvironment } from '../../config/settings/write-environment.ts';
import { defined } from '../../core/text/defined.ts';
import type { Inspection } from '../debugger/inspection.ts';
import { sqsEventQueue } from '../functions/event-queue.ts';
import { type BatchReport, type EventSource, eventSource } from '../functions/event-source.ts';
import { type FunctionPool, functionPool } from '../functions/function-pool.ts';

/** A running function of the mesh: its instances and its event sources. */
export interface ActorRunner {
  readonly plan: FunctionPlan;
  /** Uses new instances from now on, because the handler changed. */
  renew(): void;
  pids(): readonly number[];
  /** Finishes deliveries in progress within the grace period. The others are redelivered. */
  stop(graceMs: number): Promise<void>;
}

export interface RunnerOptions {
  readonly plan: FunctionPlan;
  /** The folder of the actor's document. */
  readonly cwd: string;
  /** Maximum number of instances. */
  readonly replicas: number;
  /** Command that starts the runtime. Undefined if it runs elsewhere. */
  readonly command?: string;
  /** The current values of the actor's secrets. Read for each new instance. Default: it has none. */
  readonly secrets?: () => Readonly<Record<string, string>>;
  /** Variables for the handler only, such as its AWS credentials. */
  readonly handlerEnv?: VariableMap;
  /** Set if the handler can be debugged. The actor then has one instance. */
  readonly inspection?: Inspection;
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void;
  readonly onWarning: (text: string) => void;
  readonly onBatch: (batch: BatchReport) => void;
}

/** The sidecar of actors that are debugged. */
const INSPECTED = join(import.meta.dirname, `inspected-sidecar${extname(import.meta.filename)}`);
const FUNCTIONS = fileURLToPath(new URL('../../../functions/', import.meta.url));

/** Runs the function as Lambda does: event sources invoke its instances. */
export async function runOnLambda(options: RunnerOptions, client: SQSClient): Promise<ActorRunner> {
  const { plan, cwd, inspection, onLine, onWarning, onBatch } = options;
  const attachment = inspection?.attachment;
  const replicas = inspection === undefined ? Math.min(plan.maxReplicas, options.replicas) : 1;
  const pool = functionPool({
    name: plan.actor,
    file:
      inspection === undefined
        ? `${FUNCTIONS}${plan.folder}/index${extname(import.meta.filename)}`
        : INSPECTED,
    memoryMb: plan.memoryMb,
    maxInstances: replicas,
    timeoutMs: plan.timeoutSeconds * 1000,
    cwd,
    ...defined({ attachment }),
    variables: () => variablesOf(options),
    onLine: (_, stream, line) => onLine(stream, line),
    onWarning,
  });
  // Start before the first envelope arrives, so that problems are reported immediately.
  void pool.start();
  const sources = await Promise.all(plan.sources.map((name) => sourceOf(name, pool)));
  return {
    plan,
    renew: () => {
      pool.renew();
      void pool.start();
    },
    pids: pool.pids,
    stop: async (graceMs) => {
      await Promise.all(sources.map((source) => source.stop(graceMs)));
      await pool.close(graceMs);
    },
  };

  async function sourceOf(name: string, { invoke, untilUsable }: FunctionPool): Promise<EventSource> {
    return eventSource({
      queue: sqsEventQueue(client, await existingQueue(sdkSqs(client), name)),
      batchSize: plan.batchSize,
      batchWindowSeconds: plan.batchWindowSeconds,
      maximumConcurrency: replicas,
      invoke,
      untilUsable,
      onWarning,
      onBatch,
      ...(attachment !== undefined && {
        debugging: { attachment, visibilitySeconds: plan.queue?.plan.visibilitySeconds ?? 0 },
      }),
    });
  }
}

/** The environment of an instance's sidecar. */
export function variablesOf({
  plan,
  command,
  secrets,
  handlerEnv: env,
}: Pick<RunnerOptions, 'plan' | 'command' | 'secrets' | 'handlerEnv'>): Record<string, string> {
  const config = isActorPlan(plan) ? withoutSecrets(plan.config) : plan.config;
  const runtime =
    command === undefined ? config.runtime : { ...config.runtime, command, ...defined({ env }) };
  return { ...plan.environment, ...secrets?.(), ...writeEnvironment({ ...config, runtime }).variables };
}

/** On this machine the values are in the environment of the sidecar, which therefore does not read them from AWS. */
function withoutSecrets(config: SidecarConfig): SidecarConfig {
  const { secrets: _references, ...runtime } = config.runtime;
  return { ...config, runtime };
}
