import middy from '@middy/core';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { emfTelemetry } from '../../lib/adapters/emf/emf-telemetry.ts';
import { jsonLog } from '../../lib/adapters/log/json-log.ts';
import { isOnThisMachine, sqsClient } from '../../lib/adapters/sqs/sqs-client.ts';
import { sqsTransport } from '../../lib/adapters/sqs/sqs-transport.ts';
import { systemClock } from '../../lib/adapters/system/system.ts';
import { telemetryToAll } from '../../lib/app/telemetry-to-all.ts';
import { lineFromConfig } from '../../lib/assembly/line-from-config.ts';
import { configFromEnvironment } from '../../lib/assembly/read-config.ts';
import { runtimeFromConfig } from '../../lib/assembly/runtime-from-config.ts';
import { queueName } from '../../lib/config/queue-name.ts';
import { HOST_RESERVE_MS } from '../../lib/config/sidecar-config.ts';
import { handleBatch } from './handle-batch.ts';

/** The sidecar on Lambda: an actor's queue is the event source, the runtime a child process that outlives invocations. */

const reading = configFromEnvironment(process.env);
if ('words' in reading) throw new Error(reading.words);
const { config } = reading;

const queueOf = (actor: string) => queueName(actor, config.namespace);
const place = { queue: queueOf(config.actor.name), transport: 'sqs', queueOf };
const write = (line: string) => console.log(line);
const log = jsonLog({ level: config.logLevel, actor: config.actor.name, now: systemClock.now, write });
const metrics = emfTelemetry(place);
const transport = sqsTransport({
  client: sqsClient(config.sqs, process.env),
  ...config.sqs,
  escapesPairs: isOnThisMachine(config.sqs.endpoint),
});
/** Started in the init phase, before the first event; a bundle that is imported synchronously cannot wait for it. */
const starting = runtimeFromConfig(config, process.env, systemClock, log).then((runtime) =>
  lineFromConfig(config, transport, runtime, telemetryToAll(log, metrics)),
);

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

let isTooShort: boolean | undefined;

/**
 * Where the function's own timeout is too short for a call, every record would be sent again for ever and no receive
 * counted; refused, they end in the dead-letter queue. The first invocation tells: it has the whole time before it.
 */
function refuseTooShort(timeLeftMs: number): void {
  const neededMs = config.actor.timeoutMs + HOST_RESERVE_MS;
  isTooShort ??= timeLeftMs < neededMs;
  if (!isTooShort) return;
  throw new Error(
    `asya: the function's timeout leaves ${timeLeftMs} ms, and a call may take ${config.actor.timeoutMs} ms; ` +
      `set the timeout to ${Math.ceil(neededMs / 1000) + 1} s or more, or lower ASYA_RESILIENCY_ACTOR_TIMEOUT`,
  );
}

const publishMetrics = { after: () => metrics.publish(), onError: () => metrics.publish() };

export const handler = middy<SQSEvent, SQSBatchResponse>().use(publishMetrics).handler(handle);
