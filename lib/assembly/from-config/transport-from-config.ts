import type { BrokerConfig } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Transport } from '../../ports/transport.ts';

export type MakeTransport = (config: BrokerConfig, env: Environment) => Transport | Promise<Transport>;

/**
 * The transport that is configured. Imports only that broker's client. `warn` is called if the configuration does not fit
 * the broker's limits for consumers; a process that only sends can leave it out.
 */
export async function transportFromConfig(
  config: BrokerConfig,
  env: Environment,
  warn: (message: string) => void = () => {},
): Promise<Transport> {
  switch (config.transport) {
    case 'sqs': {
      const { sqsFromConfig } = await import('./sqs-from-config.ts');
      return sqsFromConfig(config, env);
    }
    case 'pubsub': {
      const { pubsubFromConfig } = await import('./pubsub-from-config.ts');
      return pubsubFromConfig(config);
    }
    case 'rabbitmq': {
      const { rabbitMqFromConfig } = await import('./rabbitmq-from-config.ts');
      return rabbitMqFromConfig(config, warn);
    }
  }
}
