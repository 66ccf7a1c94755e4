import type { Environment } from '../config/environment.ts';
import { isOnThisMachine } from '../config/local-endpoint.ts';
import type { SidecarConfig } from '../config/sidecar-config.ts';
import type { Transport } from '../ports/transport.ts';

/** The broker that a configuration names. Each one's client is loaded only where it is used. */
export async function transportFromConfig(config: SidecarConfig, env: Environment): Promise<Transport> {
  switch (config.transport) {
    case 'sqs': {
      const { sqsClient } = await import('../adapters/sqs/sqs-client.ts');
      const { sqsTransport } = await import('../adapters/sqs/sqs-transport.ts');
      const escapesPairs = isOnThisMachine(config.sqs.endpoint);
      return sqsTransport({ client: sqsClient(config.sqs, env), ...config.sqs, escapesPairs });
    }
    case 'pubsub':
    case 'rabbitmq':
      throw new Error(
        `ASYA_TRANSPORT is "${config.transport}", which this version does not speak yet; use sqs`,
      );
  }
}
