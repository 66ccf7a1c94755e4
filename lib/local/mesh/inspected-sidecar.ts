import { systemClock } from '../../adapters/system/system.ts';
import { runtimeFromConfig } from '../../assembly/from-config/runtime-from-config.ts';
import { SDK_CLIENTS } from '../../assembly/from-config/sdk-clients.ts';
import { lambdaHandler, type SqsHandler } from '../../assembly/hosts/lambda.ts';
import { pausableTimeouts } from '../debugger/pausable-timeouts.ts';
import type { MeshMessage } from '../functions/function-messages.ts';

/** The sidecar of an actor that is debugged: that of `functions/sidecar`, but its timeouts pause. */
const timeouts = pausableTimeouts(systemClock);
process.on('message', (message: MeshMessage) => {
  if (message.kind !== 'debugger') return;
  if (message.isAttached) timeouts.pause();
  else timeouts.resume();
});

const sidecar = lambdaHandler(process.env, (config, env, log) =>
  runtimeFromConfig(config, env, systemClock, log, { clients: SDK_CLIENTS, timeouts }),
);

/** The longest timer in Node. */
const UNLIMITED_MS = 2 ** 31 - 1;

/**
 * The remaining time of an invocation cannot be given in advance, because it stops passing while a debugger is attached.
 * The mesh still ends the invocation when its time is over.
 */
export const handler: SqsHandler = (event, context) =>
  sidecar(event, { ...context, getRemainingTimeInMillis: () => UNLIMITED_MS });
