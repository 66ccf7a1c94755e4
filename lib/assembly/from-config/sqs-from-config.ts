import { sqsClient } from '../../adapters/sqs/sqs-client.ts';
import { sqsTransport } from '../../adapters/sqs/sqs-transport.ts';
import { isOnThisMachine } from '../../config/settings/addresses.ts';
import type { BrokerConfig } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Transport } from '../../ports/transport.ts';

/** The SQS transport. */
export function sqsFromConfig({ sqs }: BrokerConfig, env: Environment): Transport {
  return sqsTransport({ client: sqsClient(sqs, env), ...sqs, escapesPairs: isOnThisMachine(sqs.endpoint) });
}

/**
 * The transport of functions on Lambda, whose event sources are SQS queues. They do not use `transportFromConfig`:
 * their bundles would contain the client of every broker.
 */
export function transportOnLambda(config: BrokerConfig, env: Environment): Transport {
  if (config.transport === 'sqs') return sqsFromConfig(config, env);
  throw new Error(
    `asya: ASYA_TRANSPORT is "${config.transport}", but functions on Lambda support only sqs; ` +
      'set it to sqs, or run `asya sidecar`',
  );
}
