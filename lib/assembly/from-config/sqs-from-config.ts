import { sqsClient } from '../../adapters/sqs/sqs-client.ts';
import { sqsTransport } from '../../adapters/sqs/sqs-transport.ts';
import { isOnThisMachine } from '../../config/settings/addresses.ts';
import type { BrokerConfig } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Transport } from '../../ports/transport.ts';

/** SQS as a configuration describes it. */
export function sqsFromConfig({ sqs }: BrokerConfig, env: Environment): Transport {
  return sqsTransport({ client: sqsClient(sqs, env), ...sqs, escapesPairs: isOnThisMachine(sqs.endpoint) });
}

/**
 * The only broker that a function on Lambda speaks: its queues are the event source. A bundle holds whatever could be
 * imported, so the hosts there name this one and not the choice of all, or they would carry every broker's client.
 */
export function transportOnLambda(config: BrokerConfig, env: Environment): Transport {
  if (config.transport === 'sqs') return sqsFromConfig(config, env);
  throw new Error(
    `asya: ASYA_TRANSPORT is "${config.transport}", and functions on Lambda speak sqs alone; ` +
      'use it there, or run `asya sidecar`',
  );
}
