import type { JsonLog } from '../../adapters/log/json-log.ts';
import { deliveryFromPush } from '../../adapters/pubsub/push-delivery.ts';
import { type PushRequest, type PushResponse, pushServer } from '../../adapters/push-http/push-server.ts';
import { type PushDeps, type PushResult, processPush } from '../../app/delivery/process-push.ts';
import { semaphore } from '../../async/semaphore.ts';
import { untilAborted } from '../../async/until-aborted.ts';
import type { PushConfig } from '../../config/settings/host-config.ts';
import { type PushHost, pushHostFrom } from '../../config/settings/push-host.ts';
import { readPushConfig } from '../../config/settings/read-host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { configFromEnvironment, mistakesMessage } from '../from-config/read-config.ts';
import { withStartupTimeout } from '../from-config/runtime-watch.ts';
import { pushAuthenticationFromConfig } from './authenticate-push.ts';
import { LAST_SENDS_MS, withinGracePeriod } from './grace-period.ts';
import { type HostProcess, type HostResult, runHost } from './run-host.ts';
import { type Host, withHost } from './with-host.ts';

/** Cloud Run kills an instance ten seconds after SIGTERM, whatever is configured. */
const MAX_GRACE_MS = 9_000;

interface CloudRunConfig extends PushConfig {
  readonly pushHost: PushHost;
}

/**
 * A Cloud Run service for an actor or one of the crew: Pub/Sub pushes its deliveries as HTTP requests. Runs until it is
 * stopped, or until a call hangs in a runtime that this process cannot restart. Resolves with the exit status.
 */
export function runCloudRun(cloudRun: HostProcess): Promise<number> {
  const { env, stop } = cloudRun;
  return runHost(cloudRun, readCloudRunConfig, (config, log) =>
    // Cloud Run sends requests as soon as the port is open, so the runtime has to be ready before.
    withHost({ config, env, log, stop, runtimeCloseMs: () => LAST_SENDS_MS }, (host) =>
      acceptPushes(host, config, log, stop),
    ),
  );
}

function readCloudRunConfig(env: Environment): { config: CloudRunConfig } | { message: string } {
  const reading = configFromEnvironment(readPushConfig, env);
  if ('message' in reading) return reading;
  const push = pushHostFrom(reading.config, env);
  if ('mistakes' in push) return { message: mistakesMessage(push.mistakes) };
  return { config: { ...withStartupTimeout(reading.config), pushHost: push.host } };
}

async function acceptPushes(
  { line, liveness }: Host,
  config: CloudRunConfig,
  log: JsonLog,
  stop: AbortSignal,
): Promise<HostResult> {
  const { trust, port, budgetMs } = config.pushHost;
  const { concurrency } = config.runtime;
  const hung = new AbortController();
  const ending = AbortSignal.any([stop, hung.signal]);
  const slots = semaphore(concurrency);
  const deps: PushDeps = { line, slots, budgetMs, stop: ending, onHung: () => hung.abort() };
  const server = await pushServer({
    port,
    refuse: pushAuthenticationFromConfig(trust, log),
    onPush: (body, arrival) => answerPush(body, arrival, deps),
    liveness,
    onWarning: log.warn,
  });
  try {
    log.line('info', 'accepting pushes', { port: server.port, concurrency });
    await untilAborted(ending);
    log.line('info', 'draining', { inFlight: slots.running });
    const { cancel, interrupt } = line.runtime;
    if (hung.signal.aborted) interrupt();
    const graceMs = Math.min(config.gracePeriodMs, MAX_GRACE_MS);
    await withinGracePeriod(server.drain(), {
      graceMs,
      stop: ending,
      cancel: () => cancel?.(),
      interrupt,
    });
    return { why: hung.signal.aborted ? 'hung' : 'stopped' };
  } finally {
    await server.close();
  }
}

async function answerPush(body: string, arrival: PushRequest, deps: PushDeps): Promise<PushResponse> {
  const reading = deliveryFromPush(body);
  if ('problem' in reading) return { status: 400, problem: reading.problem };
  const end = await processPush(
    reading.delivery,
    { disconnected: arrival.disconnected, waitedMs: arrival.tookMs },
    deps,
  );
  // Between requests Cloud Run may give the process no CPU time.
  await deps.line.progress?.flush();
  return ANSWERS[end];
}

const ANSWERS: Readonly<Record<PushResult, PushResponse>> = {
  acked: { status: 204 },
  released: { status: 503, problem: 'a send was refused; deliver it again' },
  'no-free-slot': { status: 429, problem: 'no free slot; deliver it again' },
};
