import type { Environment } from '../config/environment.ts';
import { isOnThisMachine } from '../config/local-endpoint.ts';
import type { SidecarConfig } from '../config/sidecar-config.ts';
import type { Transport } from '../ports/transport.ts';

/**
 * The broker that a configuration names. Each one's client is loaded only where it is used. Whoever works on what it
 * delivers is warned of what the broker may not like; who only sends need not listen.
 */
export async function transportFromConfig(
  config: SidecarConfig,
  env: Environment,
  warn: (words: string) => void = () => {},
): Promise<Transport> {
  switch (config.transport) {
    case 'sqs': {
      const { sqsClient } = await import('../adapters/sqs/sqs-client.ts');
      const { sqsTransport } = await import('../adapters/sqs/sqs-transport.ts');
      const escapesPairs = isOnThisMachine(config.sqs.endpoint);
      return sqsTransport({ client: sqsClient(config.sqs, env), ...config.sqs, escapesPairs });
    }
    case 'rabbitmq': {
      const { rabbitMqTransport } = await import('../adapters/rabbitmq/rabbitmq-transport.ts');
      const { consumerTimeoutWarning } = await import('../adapters/rabbitmq/consumer-timeout.ts');
      const { concurrency } = config.runtime;
      // Fewer would leave some of the calls that may run at once without work.
      const prefetch = Math.max(config.rabbitmq.prefetch, concurrency);
      const warning = consumerTimeoutWarning({
        actorTimeoutMs: config.actor.timeoutMs,
        concurrency,
        prefetch,
      });
      if (warning !== undefined) warn(warning);
      return rabbitMqTransport({ ...config.rabbitmq, prefetch, name: `asya ${config.actor.name}` });
    }
    case 'pubsub':
      throw new Error(
        `ASYA_TRANSPORT is "${config.transport}", which this version does not speak yet; use sqs`,
      );
  }
}
