import { type JsonLog, jsonLog } from '../../adapters/log/json-log.ts';
import { prometheusTelemetry } from '../../adapters/prometheus/prometheus-telemetry.ts';
import { deliveryFromPush } from '../../adapters/pubsub/push-delivery.ts';
import {
  type Arrival,
  type PushAnswer,
  type PushServer,
  pushServer,
} from '../../adapters/push-http/push-server.ts';
import { systemClock } from '../../adapters/system/system.ts';
import type { Line } from '../../app/delivery/handle-delivery.ts';
import { type PushDeps, type PushEnd, processPush } from '../../app/delivery/process-push.ts';
import { telemetryToAll } from '../../app/delivery/telemetry-to-all.ts';
import { watchRuntime } from '../../app/delivery/watch-runtime.ts';
import { semaphore } from '../../async/semaphore.ts';
import { type PushHost, pushHostFrom } from '../../config/settings/push-host.ts';
import { queueName } from '../../config/settings/queue-name.ts';
import type { SidecarConfig } from '../../config/settings/sidecar-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { lineFromConfig } from '../from-config/line-from-config.ts';
import { configFromEnvironment, mistakesMessage } from '../from-config/read-config.ts';
import { runtimeOrCrew } from '../from-config/runtime-or-crew.ts';
import {
  logCrewWithoutStorage,
  runtimeWatchOptions,
  withStartupTimeout,
} from '../from-config/runtime-watch.ts';
import { transportFromConfig } from '../from-config/transport-from-config.ts';
import { pushAuthenticationFromConfig } from './authenticate-push.ts';
import { failureText } from './failure-text.ts';
import { graceOver, LAST_SENDS_MS, untilAborted } from './grace-period.ts';
import { serveHealth } from './serve-health.ts';

export interface CloudRunProcess {
  readonly env: Environment;
  /** One line of the log. */
  readonly write: (line: string) => void;
  /** Words for whoever configured it wrongly. */
  readonly complain: (words: string) => void;
  /** Aborts when the process is told to stop. */
  readonly stop: AbortSignal;
}

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_MISTAKEN = 2;

/** The line on Cloud Run, for an actor and the crew alike: push subscriptions call it. Resolves with the exit status. */
export async function runCloudRun({ env, write, complain, stop }: CloudRunProcess): Promise<number> {
  const reading = configFromEnvironment(env);
  if ('words' in reading) {
    complain(reading.words);
    return EXIT_MISTAKEN;
  }
  const config = withStartupTimeout(reading.config);
  const pushing = pushHostFrom(config, env);
  if ('mistakes' in pushing) {
    complain(mistakesMessage(pushing.mistakes));
    return EXIT_MISTAKEN;
  }
  const log = jsonLog({ level: config.logLevel, actor: config.actor.name, now: systemClock.now, write });
  try {
    const why = await takePushes(config, pushing.host, env, log, stop);
    log.line(why === 'stopped' ? 'info' : 'error', 'ended', { why });
    return why === 'stopped' ? EXIT_OK : EXIT_FAILED;
  } catch (error) {
    log.line('error', 'failed', { problem: failureText(error) });
    return EXIT_FAILED;
  }
}

/** Until told to stop, or until a call hung in a runtime that somebody else has to start afresh. */
async function takePushes(
  config: SidecarConfig,
  { trust, port, budgetMs }: PushHost,
  env: Environment,
  log: JsonLog,
  stop: AbortSignal,
): Promise<'stopped' | 'hung'> {
  const queueOf = (actor: string) => queueName(actor, config.namespace);
  const metrics = prometheusTelemetry({
    queue: queueOf(config.actor.name),
    transport: config.transport,
    queueOf,
  });
  const hung = new AbortController();
  const ending = AbortSignal.any([stop, hung.signal]);
  const closers: (() => Promise<void>)[] = [];
  try {
    const transport = await transportFromConfig(config, env);
    closers.unshift(transport.close);
    const runtime = await runtimeOrCrew(config, env, log);
    closers.unshift(() => runtime.close(LAST_SENDS_MS));
    const watch = watchRuntime(runtimeWatchOptions(config, runtime, log));
    closers.unshift(watch.close);
    const looks = { liveness: watch.liveness, readiness: runtime.problem };
    closers.unshift(await serveHealth(config, metrics, log, looks));
    logCrewWithoutStorage(config, log);
    // Cloud Run sends requests as soon as the port is open.
    await watch.untilReady(stop);
    const line = lineFromConfig(config, transport, runtime, telemetryToAll(log, metrics));
    const turns = semaphore(config.runtime.concurrency);
    const desk: PushDeps = { line, turns, budgetMs, stop: ending, onHung: () => hung.abort() };
    const server = await pushServer({
      port,
      refuse: pushAuthenticationFromConfig(trust, log),
      take: (body, arrival) => takePush(body, arrival, desk),
      liveness: watch.liveness,
      onTrouble: log.warn,
    });
    closers.unshift(server.close);
    log.line('info', 'taking pushes', { port: server.port, concurrency: config.runtime.concurrency });
    await untilAborted(ending);
    log.line('info', 'draining', { inHand: turns.running });
    if (hung.signal.aborted) runtime.interrupt();
    await drain(server, line.runtime, config.gracePeriodMs);
    await line.progress?.flush();
    return hung.signal.aborted ? 'hung' : 'stopped';
  } finally {
    for (const close of closers) await close();
  }
}

async function takePush(body: string, arrival: Arrival, desk: PushDeps): Promise<PushAnswer> {
  const reading = deliveryFromPush(body);
  if ('problem' in reading) return { status: 400, problem: reading.problem };
  const end = await processPush(reading.delivery, arrival, desk);
  await flushProgress(desk.line);
  return ANSWERS[end];
}

/** Between requests Cloud Run may give the process no time at all. */
async function flushProgress({ progress }: Line): Promise<void> {
  await progress?.flush();
}

const ANSWERS: Readonly<Record<PushEnd, PushAnswer>> = {
  acked: { status: 204 },
  released: { status: 503, problem: 'a send was refused; deliver it again' },
  'turned-away': { status: 429, problem: 'every turn is taken; deliver it again' },
};

/** Cloud Run kills an instance ten seconds after it was told to stop, whatever is configured. */
const MAX_GRACE_MS = 9_000;

/** What is in flight ends; what takes too long is sent again unchanged, and acked. */
async function drain(server: PushServer, runtime: Runtime, gracePeriodMs: number): Promise<void> {
  const graceMs = Math.min(gracePeriodMs, MAX_GRACE_MS);
  const drained = new AbortController();
  await Promise.race([server.drain(), graceOver(graceMs, runtime.interrupt, drained.signal)]);
  drained.abort();
}
