import { systemClock } from '../../lib/adapters/system/system.ts';
import { handlerOnLambda } from '../../lib/assembly/on-lambda.ts';
import { runtimeFromConfig } from '../../lib/assembly/runtime-from-config.ts';

/** The sidecar on Lambda: an actor's queue is the event source, the runtime a child process that outlives invocations. */
export const handler = handlerOnLambda(process.env, (config, env, log) =>
  runtimeFromConfig(config, env, systemClock, log),
);
