import type { JsonLog } from '../../adapters/log/json-log.ts';
import { systemClock } from '../../adapters/system/system.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { runtimeFromConfig } from './runtime-from-config.ts';
import { SDK_CLIENTS } from './sdk-clients.ts';

/** The user's runtime, or one of the crew. Imports the crew's stores only when they are needed. */
export async function runtimeOrCrew(config: SidecarConfig, env: Environment, log: JsonLog): Promise<Runtime> {
  if (config.actor.crew === undefined)
    return runtimeFromConfig(config, env, systemClock, log, { clients: SDK_CLIENTS });
  const { crewFromConfig } = await import('./crew-from-config.ts');
  return crewFromConfig(config.actor.name)(config, env, log);
}
