import { type JsonLog, jsonLog } from '../../adapters/log/json-log.ts';
import { systemClock } from '../../adapters/system/system.ts';
import { ConfigurationError } from '../../config/settings/configuration-error.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { failureText } from './failure-text.ts';

/** What a host needs of the process that it runs in. */
export interface HostProcess {
  readonly env: Environment;
  /** Writes one line of the log. */
  readonly write: (line: string) => void;
  /** Prints a mistake in the configuration, usually on stderr. */
  readonly printError: (message: string) => void;
  /** Aborts when the process should stop. */
  readonly stop: AbortSignal;
}

/** Why a host ended. It is an error unless it was stopped. */
export type HostResult =
  | { readonly why: 'stopped' }
  /** A call hung in a runtime that this process did not start. The platform has to restart both. */
  | { readonly why: 'hung' }
  | { readonly why: 'queue-missing'; readonly problem: string }
  | { readonly why: 'grace-period-over' };

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_INVALID_CONFIG = 2;

type LogSettings = Pick<SidecarConfig, 'logLevel' | 'actor'>;

/**
 * Reads the host's configuration, serves until the host ends, and logs why it ended. Resolves with the exit status: 0
 * if it was stopped, 1 if it failed, 2 if the configuration has mistakes.
 */
export async function runHost<Config extends LogSettings>(
  { env, write, printError }: HostProcess,
  readConfig: (env: Environment) => { readonly config: Config } | { readonly message: string },
  serve: (config: Config, log: JsonLog) => Promise<HostResult>,
): Promise<number> {
  const reading = readConfig(env);
  if ('message' in reading) {
    printError(reading.message);
    return EXIT_INVALID_CONFIG;
  }
  const { config } = reading;
  const log = jsonLog({ level: config.logLevel, actor: config.actor.name, now: systemClock.now, write });
  try {
    const end = await serve(config, log);
    const isStopped = end.why === 'stopped';
    log.line(isStopped ? 'info' : 'error', 'sidecar ended', { ...end });
    return isStopped ? EXIT_OK : EXIT_FAILED;
  } catch (error) {
    if (error instanceof ConfigurationError) {
      printError(error.message);
      return EXIT_INVALID_CONFIG;
    }
    log.line('error', 'sidecar failed', { problem: failureText(error) });
    return EXIT_FAILED;
  }
}
