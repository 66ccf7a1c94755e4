import type { BrokerConfig } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Transport } from '../../ports/transport.ts';

export type MakeTransport = (config: BrokerConfig, env: Environment) => Transport | Promise<Transport>;

/**
 * The broker that a configuration names. Each one's client is loaded only where it is used. Whoever works on what it
 * delivers is warned of what the broker may not like; who only sends need not listen.
 */
export async function transportFromConfig(
  config: BrokerConfig,
  env: Environment,
  warn: (words: string) => void = () => {},
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
