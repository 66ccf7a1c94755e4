import { healthServer } from '../adapters/health-http/health-server.ts';
import { type JsonLog, jsonLog } from '../adapters/log/json-log.ts';
import { prometheusTelemetry } from '../adapters/prometheus/prometheus-telemetry.ts';
import { systemClock } from '../adapters/system/system.ts';
import { telemetryToAll } from '../app/telemetry-to-all.ts';
import { type Work, type WorkEnd, workQueue } from '../app/work-queue.ts';
import { lineFromConfig } from '../assembly/line-from-config.ts';
import { configFromEnvironment } from '../assembly/read-config.ts';
import { runtimeFromConfig } from '../assembly/runtime-from-config.ts';
import { transportFromConfig } from '../assembly/transport-from-config.ts';
import type { Environment } from '../config/environment.ts';
import { queueName } from '../config/queue-name.ts';
import type { SidecarConfig } from '../config/sidecar-config.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { watchRuntime } from './watch-runtime.ts';

export interface SidecarHost {
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
export async function runSidecar(host: SidecarHost): Promise<number> {
  const reading = configFromEnvironment(host.env);
  if ('words' in reading) {
    host.complain(reading.words);
    return EXIT_MISTAKEN;
  }
  const { config } = reading;
  const { write } = host;
  const log = jsonLog({ level: config.logLevel, actor: config.actor.name, now: systemClock.now, write });
  try {
    const end = await work(config, log, host);
    log.line(end.why === 'stopped' ? 'info' : 'error', 'ended', { ...end });
    return end.why === 'stopped' ? EXIT_OK : EXIT_FAILED;
  } catch (error) {
    log.line('error', 'failed', {
      problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return EXIT_FAILED;
  }
}

type SidecarEnd = WorkEnd | { readonly why: 'grace-period-over' };

async function work(
  config: SidecarConfig,
  log: JsonLog,
  { env, stop, alsoTell }: SidecarHost,
): Promise<SidecarEnd> {
  const queue = queueName(config.actor.name, config.namespace);
  const queueOf = (actor: string) => queueName(actor, config.namespace);
  const metrics = prometheusTelemetry({ queue, transport: config.transport, queueOf });
  const telemetry = telemetryToAll(log, metrics, ...(alsoTell === undefined ? [] : [alsoTell]));
  const graceLeftMs = graceLeftFor(config.gracePeriodMs, stop);
  const closers: (() => Promise<void>)[] = [];
  try {
    const transport = await transportFromConfig(config, env);
    closers.unshift(transport.close);
    const runtime = await runtimeFromConfig(config, env, systemClock, log);
    closers.unshift(() => runtime.close(graceLeftMs()));
    const watch = watchRuntime(runtime, systemClock);
    closers.unshift(watch.close);
    if (config.metrics !== undefined) {
      const health = await healthServer({
        ...config.metrics,
        sickness: watch.sickness,
        unreadiness: async () => (await runtime.problem()) ?? problemOf(await transport.reach(queue)),
        metrics: async () => ({ text: await metrics.text(), contentType: metrics.contentType }),
      });
      closers.unshift(health.close);
      log.line('info', 'serving /healthz, /readyz and /metrics', { port: health.port });
    }
    await watch.untilReady(stop);
    log.line('info', 'working', { queue, transport: config.transport });
    const line = lineFromConfig(config, transport, runtime, telemetry);
    const { autoCreate, retryMaxAttempts, retryBackoffMs } = config.queues;
    const missingQueue = { autoCreate, maxAttempts: retryMaxAttempts, backoffMs: retryBackoffMs };
    return await workWithGrace(
      { queue, transport, line, concurrency: config.runtime.concurrency, missingQueue },
      config.gracePeriodMs,
      stop,
    );
  } finally {
    for (const close of closers) await close();
  }
}

/** What the last sends of calls that were interrupted may take. */
const LAST_SENDS_MS = 2_000;

/** Told to stop, it finishes what is in flight; what takes too long goes back unchanged, within the grace period. */
async function workWithGrace(toDo: Work, gracePeriodMs: number, stop: AbortSignal): Promise<SidecarEnd> {
  const working = workQueue(toDo, stop);
  const ended = new AbortController();
  const graceOver = (async (): Promise<SidecarEnd> => {
    await untilAborted(stop, ended.signal);
    const lastSendsMs = Math.min(LAST_SENDS_MS, gracePeriodMs / 2);
    await systemClock.sleep(gracePeriodMs - lastSendsMs, ended.signal);
    if (!ended.signal.aborted) toDo.line.runtime.interrupt();
    await systemClock.sleep(lastSendsMs, ended.signal);
    return { why: 'grace-period-over' };
  })();
  try {
    return await Promise.race([working, graceOver]);
  } finally {
    ended.abort();
  }
}

function untilAborted(...signals: readonly AbortSignal[]): Promise<void> {
  const any = AbortSignal.any([...signals]);
  return new Promise((resolve) => {
    if (any.aborted) resolve();
    else any.addEventListener('abort', () => resolve(), { once: true });
  });
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
