import { awsJsonService } from '../../adapters/aws-http/json-service.ts';
import { httpClient } from '../../adapters/http-client/http-client.ts';
import { slimSqsTransport } from '../../adapters/sqs/slim-sqs-transport.ts';
import { systemClock, systemRandom } from '../../adapters/system/system.ts';
import { isOnThisMachine } from '../../config/settings/addresses.ts';
import type { BrokerConfig } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { defined } from '../../core/text/defined.ts';
import type { Transport } from '../../ports/transport.ts';

/**
 * The transport of functions on Lambda, whose event sources are SQS queues. They do not use `transportFromConfig`:
 * their bundles would contain the client of every broker.
 */
export function transportOnLambda(config: BrokerConfig, env: Environment): Transport | Promise<Transport> {
  if (config.transport !== 'sqs')
    throw new Error(
      `asya: ASYA_TRANSPORT is "${config.transport}", but functions on Lambda support only sqs; ` +
        'set it to sqs, or run `asya sidecar`',
    );
  return config.sqs.client === 'sdk' ? withSdk(config, env) : slimSqsFromConfig(config, env);
}

/** Opens its connection at once: this runs during Lambda's init, before the first event. */
function slimSqsFromConfig({ sqs }: BrokerConfig, env: Environment): Transport {
  const { region, endpoint, account, visibilitySeconds, waitSeconds } = sqs;
  const [clock, random] = [systemClock, systemRandom];
  const access = { region, ...defined({ endpoint }), env, http: httpClient(), clock, random };
  const service = awsJsonService('sqs', access);
  service.connect();
  return slimSqsTransport({
    service,
    clock,
    random,
    visibilitySeconds,
    waitSeconds,
    ...defined({ account }),
    escapesPairs: isOnThisMachine(service.endpoint.href),
  });
}

async function withSdk(config: BrokerConfig, env: Environment): Promise<Transport> {
  try {
    const { sqsFromConfig } = await import('./sqs-from-config.ts');
    return sqsFromConfig(config, env);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new Error(
      "asya: ASYA_SQS_CLIENT is \"sdk\", but the function's code does not contain the AWS SDK; deploy with `sqsClient: 'sdk'`",
      { cause: error },
    );
  }
}
