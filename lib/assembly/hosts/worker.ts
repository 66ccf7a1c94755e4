import { type JsonLog, jsonLog } from '../../adapters/log/json-log.ts';
import { prometheusTelemetry } from '../../adapters/prometheus/prometheus-telemetry.ts';
import { systemClock } from '../../adapters/system/system.ts';
import { type ConsumeEnd, type ConsumerDeps, consumeQueue } from '../../app/delivery/consume-queue.ts';
import { createMissingQueues } from '../../app/delivery/create-missing-queues.ts';
import { telemetryToAll } from '../../app/delivery/telemetry-to-all.ts';
import { watchRuntime } from '../../app/delivery/watch-runtime.ts';
import { deadLetterQueueName, queueName } from '../../config/settings/queue-name.ts';
import type { SidecarConfig } from '../../config/settings/sidecar-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { Transport } from '../../ports/transport.ts';
import { lineFromConfig } from '../from-config/line-from-config.ts';
import { configFromEnvironment } from '../from-config/read-config.ts';
import { runtimeOrCrew } from '../from-config/runtime-or-crew.ts';
import {
  logCrewWithoutStorage,
  runtimeWatchOptions,
  withStartupTimeout,
} from '../from-config/runtime-watch.ts';
import { transportFromConfig } from '../from-config/transport-from-config.ts';
import { failureText } from './failure-text.ts';
import { graceOver, untilAborted } from './grace-period.ts';
import { serveHealth } from './serve-health.ts';

export interface WorkerHost {
  readonly env: Environment;
  /** One line of the log. */
  readonly write: (line: string) => void;
  /** Words for whoever started it wrongly. */
  readonly complain: (words: string) => void;
  /** Aborts when the process is told to stop. */
  readonly stop: AbortSignal;
  /** Whoever else wants to hear of every step. */
  readonly alsoTell?: Telemetry;
}

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_MISTAKEN = 2;

/** `asya sidecar`: the line as a process that lives long, configured by its environment. Resolves with the exit status. */
export async function runWorker(host: WorkerHost): Promise<number> {
  const reading = configFromEnvironment(host.env);
  if ('words' in reading) {
    host.complain(reading.words);
    return EXIT_MISTAKEN;
  }
  const config = withStartupTimeout(reading.config);
  const { write } = host;
  const log = jsonLog({ level: config.logLevel, actor: config.actor.name, now: systemClock.now, write });
  try {
    const end = await work(config, log, host);
    log.line(end.why === 'stopped' ? 'info' : 'error', 'ended', { ...end });
    return end.why === 'stopped' ? EXIT_OK : EXIT_FAILED;
  } catch (error) {
    log.line('error', 'failed', { problem: failureText(error) });
    return EXIT_FAILED;
  }
}

type SidecarEnd = ConsumeEnd | { readonly why: 'grace-period-over' };

async function work(
  config: SidecarConfig,
  log: JsonLog,
  { env, stop, alsoTell }: WorkerHost,
): Promise<SidecarEnd> {
  const queueOf = (actor: string) => queueName(actor, config.namespace);
  const queue = queueOf(config.actor.name);
  const queues = queuesOf(config);
  const metrics = prometheusTelemetry({ queue, transport: config.transport, queueOf });
  const telemetry = telemetryToAll(log, metrics, ...(alsoTell === undefined ? [] : [alsoTell]));
  const graceLeftMs = graceLeftFor(config.gracePeriodMs, stop);
  const closers: (() => Promise<void>)[] = [];
  try {
    const broker = await transportFromConfig(config, env, (words) => log.line('warn', words));
    closers.unshift(broker.close);
    const transport = config.queues.autoCreate ? createMissingQueues(broker, log) : broker;
    const runtime = await runtimeOrCrew(config, env, log);
    closers.unshift(() => runtime.close(graceLeftMs()));
    const watch = watchRuntime(runtimeWatchOptions(config, runtime, log));
    closers.unshift(watch.close);
    const looks = {
      liveness: watch.liveness,
      readiness: async () => (await runtime.problem()) ?? (await firstProblem(transport, queues)),
    };
    closers.unshift(await serveHealth(config, metrics, log, looks));
    logCrewWithoutStorage(config, log);
    await watch.untilReady(stop);
    log.line('info', 'working', { queue: queues.join(','), transport: config.transport });
    const line = lineFromConfig(config, transport, runtime, telemetry);
    const missingQueue = await whatIfMissing(config, transport);
    const { concurrency } = config.runtime;
    const toDo = queues.map(
      (one): ConsumerDeps => ({ queue: one, transport, line, concurrency, missingQueue }),
    );
    const end = await workWithGrace(toDo, config.gracePeriodMs, stop);
    await line.progress?.flush();
    return end;
  } finally {
    for (const close of closers) await close();
  }
}

/** Told to stop, it finishes what is in flight; what takes too long goes back unchanged, within the grace period. */
async function workWithGrace(
  toDo: readonly ConsumerDeps[],
  gracePeriodMs: number,
  stop: AbortSignal,
): Promise<SidecarEnd> {
  const working = workQueues(toDo, stop);
  const ended = new AbortController();
  const interrupt = () => {
    for (const { line } of toDo) line.runtime.interrupt();
  };
  const tooLong = (async (): Promise<SidecarEnd> => {
    await untilAborted(stop, ended.signal);
    await graceOver(gracePeriodMs, interrupt, ended.signal);
    return { why: 'grace-period-over' };
  })();
  try {
    return await Promise.race([working, tooLong]);
  } finally {
    ended.abort();
  }
}

/** Several queues end together: with the first that ends for a reason of its own, all are told to stop. */
async function workQueues(toDo: readonly ConsumerDeps[], stop: AbortSignal): Promise<ConsumeEnd> {
  const ending = new AbortController();
  const anyStop = AbortSignal.any([stop, ending.signal]);
  const ends = await Promise.all(
    toDo.map(async (one) => {
      const end = await consumeQueue(one, anyStop);
      ending.abort();
      return end;
    }),
  );
  return ends.find(({ why }) => why !== 'stopped') ?? { why: 'stopped' };
}

/** An actor's own queue; for x-dlq, the dead-letter queues it was told to drain. */
function queuesOf({ actor, namespace, deadLettersOf }: SidecarConfig): readonly string[] {
  if (actor.crew?.role !== 'dlq') return [queueName(actor.name, namespace)];
  if (deadLettersOf.length > 0) return deadLettersOf.map((name) => deadLetterQueueName(name, namespace));
  throw new Error('asya: not set: ASYA_DEAD_LETTERS_OF, the actors whose dead-letter queues x-dlq drains');
}

/** A dead-letter queue comes with its queue; one that is missing keeps x-dlq from none of the others. */
async function whatIfMissing(
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

async function firstProblem(transport: Transport, queues: readonly string[]): Promise<string | undefined> {
  const replies = await Promise.all(queues.map((queue) => transport.reach(queue)));
  return replies.map(problemOf).find((problem) => problem !== undefined);
}

/** What is left of the grace period; undefined before anybody told it to stop. */
function graceLeftFor(gracePeriodMs: number, stop: AbortSignal): () => number | undefined {
  let stoppedAt = stop.aborted ? systemClock.now() : undefined;
  stop.addEventListener('abort', () => {
    stoppedAt = systemClock.now();
  });
  return () =>
    stoppedAt === undefined ? undefined : Math.max(0, stoppedAt + gracePeriodMs - systemClock.now());
}

function problemOf(reply: { readonly ok: boolean; readonly problem?: string }): string | undefined {
  return reply.ok ? undefined : reply.problem;
}
