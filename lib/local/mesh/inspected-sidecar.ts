import { systemClock } from '../../adapters/system/system.ts';
import { runtimeFromConfig } from '../../assembly/from-config/runtime-from-config.ts';
import { lambdaHandler } from '../../assembly/hosts/lambda.ts';
import { hostTimeouts } from '../functions/host-timeouts.ts';

/** The sidecar of an actor that is debugged: that of `functions/sidecar`, but its timeouts can pause. */
export const handler = lambdaHandler(process.env, (config, env, log) =>
  runtimeFromConfig(config, env, systemClock, log, hostTimeouts),
);
