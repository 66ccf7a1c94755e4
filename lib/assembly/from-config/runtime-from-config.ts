import type { JsonLog } from '../../adapters/log/json-log.ts';
import { processRuntime } from '../../adapters/runtime-process/process-runtime.ts';
import type { SpawnedGroup } from '../../adapters/runtime-process/spawn-group.ts';
import { withFreshSecrets } from '../../app/secrets/with-fresh-secrets.ts';
import { sleepWith, type Timeouts } from '../../async/timeouts.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import { runtimeEnvironment } from '../../config/settings/runtime-environment.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { defined } from '../../core/text/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { AwsClients } from './aws-clients.ts';
import { runtimeClient } from './runtime-client.ts';
import { secretsFromConfig } from './secrets-from-config.ts';
import { createSocketFolder } from './socket-folder.ts';

/** Creates the runtime that a host calls for each envelope: a user's runtime or one of the crew. */
export type MakeRuntime = (config: SidecarConfig, env: Environment, log: JsonLog) => Promise<Runtime>;

export interface RuntimeOptions {
  /** Read secrets and assume the handler's role. */
  readonly clients: AwsClients;
  /** Measures timeouts. Default: the real time. */
  readonly timeouts?: Timeouts;
  /** The first process, if the host has started it already. */
  readonly started?: SpawnedGroup | undefined;
}

/** The user's runtime. Starts it as a child process if a command is configured; otherwise only connects to it. */
export async function runtimeFromConfig(
  config: SidecarConfig,
  env: Environment,
  clock: Clock,
  log: JsonLog,
  { clients, timeouts, started }: RuntimeOptions,
): Promise<Runtime> {
  const { command, address, startupTimeoutMs, roleArn } = config.runtime;
  const client = await runtimeClient(config, clock, timeouts);
  // Imported only if needed: it loads a server, and the client of another service.
  const credentials =
    roleArn === undefined
      ? undefined
      : await (await import('./credentials-from-config.ts')).credentialsFromConfig(
          config,
          env,
          clock,
          log,
          clients,
        );
  if (command === undefined) return client;
  const secrets = secretsFromConfig(config, env, clock, log, clients);
  const process = processRuntime({
    command,
    env: async () => {
      createSocketFolder(address);
      const known = defined({ credentials: credentials?.variables, secrets: await secrets?.current() });
      return runtimeEnvironment(config.runtime, env, { region: config.sqs.region, ...known });
    },
    client,
    clock,
    ...defined({ started, startupTimeoutMs, startupSleep: timeouts && sleepWith(timeouts) }),
    ...defined({ waitsFor: secrets?.problem }),
    onLine: (line) => log.output(line),
    onReady: (details) => log.line('info', 'the runtime started', details),
    onWarning: (message, details) => log.warn(message, details),
  });
  const runtime =
    secrets === undefined
      ? process
      : withFreshSecrets(process, secrets, clock, () =>
          log.line('info', 'a secret has changed; the runtime is started again with the new value'),
        );
  if (credentials === undefined) return runtime;
  return {
    ...runtime,
    close: async (withinMs) => {
      await runtime.close(withinMs);
      await credentials.close();
    },
  };
}
