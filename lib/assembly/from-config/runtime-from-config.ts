import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { JsonLog } from '../../adapters/log/json-log.ts';
import { httpRuntime } from '../../adapters/runtime-http/http-runtime.ts';
import { processRuntime } from '../../adapters/runtime-process/process-runtime.ts';
import { asyaRuntime } from '../../adapters/runtime-socket/asya-runtime.ts';
import { socketRuntime } from '../../adapters/runtime-socket/socket-runtime.ts';
import { withFreshSecrets } from '../../app/secrets/with-fresh-secrets.ts';
import { sleepWith, type Timeouts } from '../../async/timeouts.ts';
import { type RuntimeAddress, runtimeAddress } from '../../config/settings/addresses.ts';
import { handlerEnvironment } from '../../config/settings/handler-environment.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { defined } from '../../core/text/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { AwsClients } from './aws-clients.ts';
import { credentialsFromConfig } from './credentials-from-config.ts';
import { secretsFromConfig } from './secrets-from-config.ts';

/** Creates the runtime that a host calls for each envelope: a user's runtime or one of the crew. */
export type MakeRuntime = (config: SidecarConfig, env: Environment, log: JsonLog) => Promise<Runtime>;

/** The user's runtime. Starts it as a child process if a command is configured; otherwise only connects to it. */
export async function runtimeFromConfig(
  config: SidecarConfig,
  env: Environment,
  clock: Clock,
  log: JsonLog,
  clients: AwsClients,
  timeouts?: Timeouts,
): Promise<Runtime> {
  const client = await clientFromConfig(config, timeouts);
  const { command, passEnv, address, protocol, startupTimeoutMs, env: set } = config.runtime;
  const credentials = await credentialsFromConfig(config, env, clock, log, clients);
  if (command === undefined) return client;
  const secrets = secretsFromConfig(config, env, clock, log, clients);
  const mesh = { ASYA_RUNTIME_URL: runtimeAddress.write(address), ASYA_RUNTIME_PROTOCOL: protocol };
  const process = processRuntime({
    command,
    env: async () => {
      createSocketFolder(address);
      return handlerEnvironment({
        own: env,
        passed: passEnv,
        region: config.sqs.region,
        ...defined({ credentials: credentials?.variables, secrets: await secrets?.current(), set }),
        mesh,
      });
    },
    client,
    clock,
    ...defined({ startupTimeoutMs, startupSleep: timeouts && sleepWith(timeouts) }),
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

/** A runtime that outlives its sidecar for a moment must not create it again. If it cannot be created, the runtime fails. */
function createSocketFolder(address: RuntimeAddress): void {
  if (!('path' in address)) return;
  try {
    mkdirSync(dirname(address.path), { recursive: true });
  } catch {
    // The runtime reports that it cannot listen there.
  }
}

async function clientFromConfig(
  { actor, runtime }: SidecarConfig,
  timeouts: Timeouts | undefined,
): Promise<Runtime> {
  const { address, protocol, concurrency } = runtime;
  const common = { protocol, fanOut: actor.fanOut, maxAnswerBytes: runtime.maxResponseBytes };
  switch (address.kind) {
    case 'asya':
      return asyaRuntime({ ...common, path: address.path, actor: actor.name, ...defined({ timeouts }) });
    case 'socket':
      return socketRuntime({ ...common, path: address.path });
    case 'http':
      return httpRuntime({ ...common, url: address.url, connections: concurrency });
    case 'http-over-socket': {
      const url = `http://localhost${address.resource}`;
      return httpRuntime({ ...common, url, socketPath: address.path, connections: concurrency });
    }
  }
}
