import type { JsonLog } from '../../adapters/log/json-log.ts';
import { systemClock } from '../../adapters/system/system.ts';
import type { RuntimeWatchOptions } from '../../app/delivery/watch-runtime.ts';
import { runtimeAddress } from '../../config/settings/addresses.ts';
import { crewRole } from '../../config/settings/crew-role.ts';
import { type SidecarConfig, STARTUP_TIMEOUT_MS } from '../../config/settings/host-config.ts';
import { withoutPassword } from '../../config/settings/without-password.ts';
import type { Runtime } from '../../ports/runtime.ts';

/** Adds the host's default for the startup timeout if none is configured. */
export function withStartupTimeout<Config extends SidecarConfig>(
  config: Config,
  startupTimeoutMs = STARTUP_TIMEOUT_MS,
): Config {
  return { ...config, runtime: { startupTimeoutMs, ...config.runtime } };
}

export function runtimeWatchOptions(
  { runtime: { address, startupTimeoutMs = STARTUP_TIMEOUT_MS } }: SidecarConfig,
  runtime: Runtime,
  log: JsonLog,
): RuntimeWatchOptions {
  return {
    runtime,
    address: withoutPassword(runtimeAddress.write(address)),
    startupTimeoutMs,
    clock: systemClock,
    log: log.line,
  };
}

/** Logs a hint if storage is missing: the crew's name suggests the built-in crew, but the actor waits for a runtime. */
export function logCrewWithoutStorage({ actor, runtime }: SidecarConfig, log: JsonLog): void {
  const isReservedName = crewRole(actor.name, '', undefined) !== undefined;
  if (!isReservedName || actor.crew !== undefined || runtime.command !== undefined) return;
  log.line(
    'info',
    'this is an ordinary end actor that calls its runtime; set ASYA_ARCHIVE_BUCKET and ASYA_FAILURE_TABLE for the built-in crew',
  );
}
