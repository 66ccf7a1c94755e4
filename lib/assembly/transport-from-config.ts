import type { Environment } from '../config/environment.ts';
import type { SidecarConfig } from '../config/sidecar-config.ts';
import type { Transport } from '../ports/transport.ts';

export type MakeTransport = (config: SidecarConfig, env: Environment) => Transport | Promise<Transport>;

/** The broker that a configuration names. Each one's client is loaded only where it is used. */
export async function transportFromConfig(config: SidecarConfig, env: Environment): Promise<Transport> {
  switch (config.transport) {
    case 'sqs': {
      const { sqsFromConfig } = await import('./sqs-from-config.ts');
      return sqsFromConfig(config, env);
    }
    case 'pubsub': {
      const { pubsubFromConfig } = await import('./pubsub-from-config.ts');
      return pubsubFromConfig(config);
    }
    case 'rabbitmq':
      throw new Error(
        `ASYA_TRANSPORT is "${config.transport}", which this version does not speak yet; use sqs or pubsub`,
      );
  }
}
