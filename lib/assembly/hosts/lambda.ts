import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { emfTelemetry } from '../../adapters/emf/emf-telemetry.ts';
import { jsonLog } from '../../adapters/log/json-log.ts';
import { systemClock } from '../../adapters/system/system.ts';
import { telemetryToAll } from '../../app/delivery/telemetry-to-all.ts';
import { HOST_RESERVE_MS, STARTUP_TIMEOUT_MS } from '../../config/settings/host-config.ts';
import { queueName } from '../../config/settings/queue-name.ts';
import { readSidecarConfig } from '../../config/settings/read-host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { deliveryLineFromConfig } from '../from-config/delivery-line-from-config.ts';
import { configFromEnvironment } from '../from-config/read-config.ts';
import type { MakeRuntime } from '../from-config/runtime-from-config.ts';
import { withStartupTimeout } from '../from-config/runtime-watch.ts';
import { transportOnLambda } from '../from-config/sqs-from-config.ts';
import { handleBatch } from './handle-batch.ts';

export type SqsHandler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** The line on Lambda, for the sidecar and the crew alike: queues are the event source. */
export function lambdaHandler(env: Environment, makeRuntime: MakeRuntime): SqsHandler {
  const reading = configFromEnvironment(readSidecarConfig, env);
  if ('message' in reading) throw new Error(reading.message);
  // A runtime that hangs while it loads must fail at last: its envelopes would go round for ever.
  const config = withStartupTimeout(
    reading.config,
    Math.max(STARTUP_TIMEOUT_MS, reading.config.actor.timeoutMs),
  );

  const queueOf = (actor: string) => queueName(actor, config.namespace);
  const place = { queue: queueOf(config.actor.name), transport: 'sqs', queueOf };
  // Lambda puts words of its own before what console.log prints, and a line would be JSON no more.
  const write = (line: string) => process.stdout.write(`${line}\n`);
  const log = jsonLog({ level: config.logLevel, actor: config.actor.name, now: systemClock.now, write });
  const metrics = emfTelemetry(place);
  const transport = transportOnLambda(config, env);
  /** Begun before the first event; a bundle that is imported synchronously cannot wait for it. */
  const starting = makeRuntime(config, env, log).then((runtime) =>
    deliveryLineFromConfig(config, transport, runtime, telemetryToAll(log, metrics)),
  );
  let wasLongEnough = false;

  /**
   * Where the function's own timeout is too short for a call, every record would be sent again for ever and no receive
   * counted; refused, they end in the dead-letter queue. An invocation tells as it begins, with the whole time before it,
   * but for one: after a crash Lambda loads the function within the next one's time. So it is asked until one had enough.
   */
  function refuseTooShort(timeLeftMs: number): void {
    const neededMs = config.actor.timeoutMs + HOST_RESERVE_MS;
    wasLongEnough ||= timeLeftMs >= neededMs;
    if (wasLongEnough) return;
    throw new Error(
      `asya: the function's timeout leaves ${timeLeftMs} ms, and a call may take ${config.actor.timeoutMs} ms; ` +
        `set the timeout to ${Math.ceil(neededMs / 1000) + 1} s or more, or lower ASYA_RESILIENCY_ACTOR_TIMEOUT`,
    );
  }

  async function handle(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
    refuseTooShort(context.getRemainingTimeInMillis());
    metrics.received(event.Records.length, 0);
    return handleBatch(event.Records, {
      line: await starting,
      transport,
      concurrency: config.runtime.concurrency,
      timeLeftMs: () => context.getRemainingTimeInMillis() - HOST_RESERVE_MS,
    });
  }

  const publishMetrics = { after: () => metrics.publish(), onError: () => metrics.publish() };
  return middy<SQSEvent, SQSBatchResponse>().use(publishMetrics).handler(handle) as unknown as SqsHandler;
}
