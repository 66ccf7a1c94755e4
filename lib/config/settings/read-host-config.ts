import { type ConfigReading, readEnvironment } from './environment.ts';
import type {
  BrokerConfig,
  FullConfig,
  GatewayConfig,
  OperatorConfig,
  PushConfig,
  SidecarConfig,
} from './host-config.ts';
import type { ReadFile } from './resiliency.ts';
import { TRANSPORT_NAMES } from './transports.ts';
import type { Environment } from './variables.ts';

/** Reads the configuration of one host. Every host checks all variables, whether it uses them or not. */
export type ReadHostConfig<Config> = (env: Environment, readFile: ReadFile) => ConfigReading<Config>;

export const readSidecarConfig: ReadHostConfig<SidecarConfig> = readPart(
  ({ gateway: _gateway, push: _push, ...config }) => config,
);

export const readPushConfig: ReadHostConfig<PushConfig> = readPart(({ gateway: _, ...config }) => config);

export const readGatewayConfig: ReadHostConfig<GatewayConfig> = readPart((config) => ({
  ...brokerPart(config),
  ...pick(config, ['gateway', 'gatewaySecret', 'storage', 'logLevel']),
}));

export const readOperatorConfig: ReadHostConfig<OperatorConfig> = readPart((config) => ({
  ...brokerPart(config),
  storage: config.storage,
}));

function readPart<Config>(part: (config: FullConfig) => Config): ReadHostConfig<Config> {
  return (env, readFile) => {
    const reading = readEnvironment(env, readFile);
    return 'config' in reading ? { config: part(reading.config) } : reading;
  };
}

function brokerPart(config: FullConfig): BrokerConfig {
  return {
    ...pick(config, ['namespace', 'transport', ...TRANSPORT_NAMES]),
    actor: pick(config.actor, ['name', 'timeoutMs']),
    runtime: pick(config.runtime, ['concurrency']),
  };
}

function pick<T extends object, K extends keyof T>(value: T, keys: readonly K[]): Pick<T, K> {
  const present = keys.filter((key) => Object.hasOwn(value, key));
  return Object.fromEntries(present.map((key) => [key, value[key]])) as Pick<T, K>;
}
