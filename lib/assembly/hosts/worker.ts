import type { JsonLog } from '../../adapters/log/json-log.ts';
import { type ConsumeResult, type ConsumerDeps, consumeQueue } from '../../app/delivery/consume-queue.ts';
import { createMissingQueues } from '../../app/delivery/create-missing-queues.ts';
import { ConfigurationError } from '../../config/settings/configuration-error.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import { deadLetterQueueName, queueName } from '../../config/settings/queue-name.ts';
import { readSidecarConfig } from '../../config/settings/read-host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { Transport } from '../../ports/transport.ts';
import { configFromEnvironment } from '../from-config/read-config.ts';
import { withStartupTimeout } from '../from-config/runtime-watch.ts';
import { graceLeft, withinGracePeriod } from './grace-period.ts';
import { type HostProcess, type HostResult, runHost } from './run-host.ts';
import { type Host, withHost } from './with-host.ts';

export interface WorkerProcess extends HostProcess {
  /** Receives the worker's telemetry besides the log and the metrics. */
  readonly observer?: Telemetry;
}

/**
 * `asya sidecar`: a process that receives an actor's deliveries from its queue until it is stopped. Resolves with the
 * exit status.
 */
export function runWorker(worker: WorkerProcess): Promise<number> {
  return runHost(worker, readWorkerConfig, (config, log) => work(config, log, worker));
}

function readWorkerConfig(env: Environment): { config: SidecarConfig } | { message: string } {
  const reading = configFromEnvironment(readSidecarConfig, env);
  return 'config' in reading ? { config: withStartupTimeout(reading.config) } : reading;
}

async function work(config: SidecarConfig, log: JsonLog, worker: WorkerProcess): Promise<HostResult> {
  const { env, stop, observer } = worker;
  const { gracePeriodMs, transport } = config;
  const queues = queuesOf(config);
  const options = {
    config,
    env,
    log,
    stop,
    queues,
    wrapTransport: (broker: Transport) =>
      config.queues.autoCreate ? createMissingQueues(broker, log) : broker,
    runtimeCloseMs: graceLeft(gracePeriodMs, stop),
    ...(observer === undefined ? {} : { observer }),
  };
  return withHost(options, async (host) => {
    log.line('info', 'receiving deliveries', { queue: queues.join(','), transport });
    const consumers = await consumersOf(queues, config, host);
    const { cancel, interrupt } = host.line.runtime;
    const end = await withinGracePeriod(consumeAll(consumers, stop), {
      graceMs: gracePeriodMs,
      stop,
      cancel: () => cancel?.(),
      interrupt,
    });
    return end === 'over' ? { why: 'grace-period-over' } : end;
  });
}

/** Consumes every queue. When one of them ends, for whatever reason, the others stop too. */
async function consumeAll(consumers: readonly ConsumerDeps[], stop: AbortSignal): Promise<ConsumeResult> {
  const ending = new AbortController();
  const anyStop = AbortSignal.any([stop, ending.signal]);
  const ends = await Promise.all(
    consumers.map(async (consumer) => {
      const end = await consumeQueue(consumer, anyStop);
      ending.abort();
      return end;
    }),
  );
  return ends.find(({ why }) => why !== 'stopped') ?? { why: 'stopped' };
}

/** An actor's own queue. For x-dlq: the dead-letter queues that it drains. */
function queuesOf({ actor, namespace, deadLettersOf }: SidecarConfig): readonly string[] {
  if (actor.crew?.role !== 'dlq') return [queueName(actor.name, namespace)];
  if (deadLettersOf.length > 0)
    return deadLettersOf.map((name) => deadLetterQueueName(queueName(name, namespace)));
  throw new ConfigurationError(
    'asya: ASYA_DEAD_LETTERS_OF is not set; expected the actors whose dead-letter queues x-dlq drains',
  );
}

async function consumersOf(
  queues: readonly string[],
  config: SidecarConfig,
  { line, transport }: Host,
): Promise<readonly ConsumerDeps[]> {
  const { concurrency } = config.runtime;
  const missingQueue = await missingQueuePolicy(config, transport);
  return queues.map((queue) => ({ queue, transport, line, concurrency, missingQueue }));
}

/**
 * x-dlq creates the queues whose dead-letter queues it drains, because a dead-letter queue is created with its queue. It
 * waits without limit for one that is missing and drains the others meanwhile.
 */
async function missingQueuePolicy(
  config: SidecarConfig,
  transport: Transport,
): Promise<ConsumerDeps['missingQueue']> {
  const { actor, namespace, deadLettersOf } = config;
  const { autoCreate, retryMaxAttempts: maxAttempts, retryBackoffMs: backoffMs } = config.queues;
  if (actor.crew?.role !== 'dlq') return { autoCreate, maxAttempts, backoffMs };
  if (autoCreate) {
    await Promise.all(deadLettersOf.map((name) => transport.ensureQueue(queueName(name, namespace))));
  }
  return { autoCreate: false, maxAttempts: Number.POSITIVE_INFINITY, backoffMs };
}
