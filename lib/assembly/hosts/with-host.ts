import type { JsonLog } from '../../adapters/log/json-log.ts';
import { prometheusTelemetry } from '../../adapters/prometheus/prometheus-telemetry.ts';
import type { DeliveryLine } from '../../app/delivery/handle-delivery.ts';
import { telemetryToAll } from '../../app/delivery/telemetry-to-all.ts';
import { watchRuntime } from '../../app/delivery/watch-runtime.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import { queueName } from '../../config/settings/queue-name.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { Transport } from '../../ports/transport.ts';
import { deliveryLineFromConfig } from '../from-config/delivery-line-from-config.ts';
import { runtimeOrCrew } from '../from-config/runtime-or-crew.ts';
import { logCrewWithoutStorage, runtimeWatchOptions } from '../from-config/runtime-watch.ts';
import { transportFromConfig } from '../from-config/transport-from-config.ts';
import { serveHealth } from './serve-health.ts';

export interface HostOptions {
  readonly config: SidecarConfig;
  readonly env: Environment;
  readonly log: JsonLog;
  /** Aborts when the process should stop. */
  readonly stop: AbortSignal;
  /** Receives the same telemetry as the log and the metrics. Default: nothing else does. */
  readonly observer?: Telemetry;
  /** Returns the transport that deliveries use. Default: the broker's transport unchanged. */
  readonly wrapTransport?: (broker: Transport) => Transport;
  /** The queues that must exist before `/readyz` reports success. Default: it checks the runtime only. */
  readonly queues?: readonly string[];
  /** How long the runtime may take to end when the host closes. Undefined: the runtime's own default. */
  readonly runtimeCloseMs: () => number | undefined;
}

/** A long-running host whose runtime is ready: it can process deliveries. */
export interface Host {
  readonly line: DeliveryLine;
  readonly transport: Transport;
  /** Why the platform should restart this process. Undefined: alive. */
  readonly liveness: () => string | undefined;
}

/**
 * Opens what every long-running host needs: metrics, the transport, the runtime or crew, and the health server. Waits
 * until the runtime is ready and calls `serve`, which processes deliveries and returns when the host should end. Then
 * closes everything in reverse order, also if opening or serving fails.
 */
export async function withHost<T>(options: HostOptions, serve: (host: Host) => Promise<T>): Promise<T> {
  const { config, env, log, stop, observer, queues = [] } = options;
  const queueOf = (actor: string) => queueName(actor, config.namespace);
  const queue = queueOf(config.actor.name);
  const metrics = prometheusTelemetry({ queue, transport: config.transport, queueOf });
  const telemetry = telemetryToAll(log, metrics, ...(observer === undefined ? [] : [observer]));
  const closers: (() => Promise<void>)[] = [];
  try {
    const broker = await transportFromConfig(config, env, (warning) => log.line('warn', warning));
    closers.unshift(broker.close);
    const transport = options.wrapTransport?.(broker) ?? broker;
    const runtime = await runtimeOrCrew(config, env, log);
    closers.unshift(() => runtime.close(options.runtimeCloseMs()));
    const watch = watchRuntime(runtimeWatchOptions(config, runtime, log));
    closers.unshift(watch.close);
    const { liveness } = watch;
    const readiness = async () => (await runtime.problem()) ?? (await firstProblem(transport, queues));
    closers.unshift(await serveHealth(config, metrics, log, { liveness, readiness }));
    logCrewWithoutStorage(config, log);
    await watch.untilReady(stop);
    const line = deliveryLineFromConfig(config, transport, runtime, telemetry);
    const result = await serve({ line, transport, liveness });
    await line.progress?.flush();
    return result;
  } finally {
    for (const close of closers) await close();
  }
}

async function firstProblem(transport: Transport, queues: readonly string[]): Promise<string | undefined> {
  const replies = await Promise.all(queues.map((queue) => transport.checkQueue(queue)));
  const refusal = replies.find((reply) => !reply.ok);
  return refusal === undefined || refusal.ok ? undefined : refusal.problem;
}
