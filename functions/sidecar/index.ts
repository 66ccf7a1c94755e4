// biome-ignore-all assist/source/organizeImports: modules are loaded in this order, and the runtime starts first
import { started } from './start-runtime.ts';
import { systemClock } from '../../lib/adapters/system/system.ts';
import { runtimeFromConfig } from '../../lib/assembly/from-config/runtime-from-config.ts';
import { SLIM_CLIENTS } from '../../lib/assembly/from-config/slim-clients.ts';
import { lambdaHandler } from '../../lib/assembly/hosts/lambda.ts';

/** The sidecar on Lambda. Its event source is the actor's queue; its runtime is a child process that outlives invocations. */
export const handler = lambdaHandler(process.env, (config, env, log) =>
  runtimeFromConfig(config, env, systemClock, log, { clients: SLIM_CLIENTS, started }),
);
