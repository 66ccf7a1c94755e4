import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { emfLines } from '../../adapters/emf/emf-lines.ts';
import { emfTelemetry, type PublishGroups } from '../../adapters/emf/emf-telemetry.ts';
import { jsonLog } from '../../adapters/log/json-log.ts';
import { systemClock } from '../../adapters/system/system.ts';
import { telemetryToAll } from '../../app/delivery/telemetry-to-all.ts';
import { HOST_RESERVE_MS, STARTUP_TIMEOUT_MS } from '../../config/settings/host-config.ts';
import { queueName } from '../../config/settings/queue-name.ts';
import { readSidecarConfig } from '../../config/settings/read-host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { metricsService } from '../../core/delivery/metric-name.ts';
import { deliveryLineFromConfig } from '../from-config/delivery-line-from-config.ts';
import { configFromEnvironment } from '../from-config/read-config.ts';
import type { MakeRuntime } from '../from-config/runtime-from-config.ts';
import { withStartupTimeout } from '../from-config/runtime-watch.ts';
import { transportOnLambda } from '../from-config/transport-on-lambda.ts';
import { handleBatch } from './handle-batch.ts';

export type SqsHandler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** A function's handler before the last step: its metrics have to be published after each invocation. */
export interface LambdaHost {
  readonly handle: SqsHandler;
  readonly publishMetrics: () => void;
}

/** The Lambda handler of a sidecar. Its event source is the actor's queue. */
export function lambdaHandler(env: Environment, makeRuntime: MakeRuntime): SqsHandler {
  const { handle, publishMetrics } = lambdaHost(env, makeRuntime);
  return async (event, context) => {
    try {
      return await handle(event, context);
    } finally {
      publishMetrics();
    }
  };
}

/**
 * A sidecar or one of the crew on Lambda. Its event source is one or more SQS queues.
 * @param publishGroups Prints metrics. Default: without a library, which would cost a sidecar too much time.
 */
export function lambdaHost(
  env: Environment,
  makeRuntime: MakeRuntime,
  publishGroups?: PublishGroups,
): LambdaHost {
  const reading = configFromEnvironment(readSidecarConfig, env);
  if ('message' in reading) throw new Error(reading.message);
  // A runtime that hangs while it loads has to fail at some point. Otherwise its envelopes would be resent forever.
  const config = withStartupTimeout(
    reading.config,
    Math.max(STARTUP_TIMEOUT_MS, reading.config.actor.timeoutMs),
  );

  const queueOf = (actor: string) => queueName(actor, config.namespace);
  const place = { queue: queueOf(config.actor.name), transport: 'sqs', queueOf };
  // Lambda adds a prefix to what console.log prints, and a line would not be valid JSON.
  const write = (line: string) => process.stdout.write(`${line}\n`);
  const log = jsonLog({ level: config.logLevel, actor: config.actor.name, now: systemClock.now, write });
  const service = metricsService(config.namespace);
  const metrics = emfTelemetry(
    place,
    publishGroups ??
      emfLines({ service, now: systemClock.now, write: (lines) => process.stdout.write(lines) }),
  );
  const opening = transportOnLambda(config, env);
  /** Starts before the first event. The bundle is CommonJS, so it cannot use a top-level await. */
  const starting = Promise.all([makeRuntime(config, env, log), opening]).then(
    async ([runtime, transport]) => ({
      transport,
      line: await deliveryLineFromConfig(config, transport, runtime, telemetryToAll(log, metrics)),
    }),
  );
  let wasLongEnough = false;

  /**
   * Throws if the function's timeout is too short for a call. Otherwise every record would be resent forever without
   * counting a receive; after an error, SQS moves them to the dead-letter queue. The remaining time at the start of an
   * invocation shows the function's timeout, except after a crash, when Lambda loads the function during the next
   * invocation. So this checks every invocation until one had enough time.
   */
  function assertLongEnough(timeLeftMs: number): void {
    const neededMs = config.actor.timeoutMs + HOST_RESERVE_MS;
    wasLongEnough ||= timeLeftMs >= neededMs;
    if (wasLongEnough) return;
    throw new Error(
      `asya: the function has ${timeLeftMs} ms left, but a call may take ${config.actor.timeoutMs} ms; ` +
        `set the function's timeout to ${Math.ceil(neededMs / 1000) + 1} s or more, or lower ASYA_RESILIENCY_ACTOR_TIMEOUT`,
    );
  }

  async function handle(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
    assertLongEnough(context.getRemainingTimeInMillis());
    metrics.received(event.Records.length, 0);
    return handleBatch(event.Records, {
      ...(await starting),
      concurrency: config.runtime.concurrency,
      timeLeftMs: () => context.getRemainingTimeInMillis() - HOST_RESERVE_MS,
    });
  }

  return { handle, publishMetrics: metrics.publish };
}
