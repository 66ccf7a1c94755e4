import { sqsClient } from '../../adapters/sqs/sqs-client.ts';
import { sqsTransport } from '../../adapters/sqs/sqs-transport.ts';
import { isOnThisMachine } from '../../config/settings/addresses.ts';
import type { BrokerConfig } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Transport } from '../../ports/transport.ts';

/** The SQS transport with the client of the AWS SDK. */
export function sqsFromConfig({ sqs }: BrokerConfig, env: Environment): Transport {
  const { visibilitySeconds, waitSeconds, endpoint } = sqs;
  return sqsTransport({
    client: sqsClient(sqs, env),
    visibilitySeconds,
    waitSeconds,
    escapesPairs: isOnThisMachine(endpoint),
  });
}
