import { consumerTimeoutWarning } from '../../adapters/rabbitmq/consumer-timeout.ts';
import { rabbitMqTransport } from '../../adapters/rabbitmq/rabbitmq-transport.ts';
import type { BrokerConfig } from '../../config/settings/host-config.ts';
import type { Transport } from '../../ports/transport.ts';

export function rabbitMqFromConfig(
  { rabbitmq, actor, runtime: { concurrency } }: BrokerConfig,
  warn: (message: string) => void,
): Transport {
  // A smaller prefetch would leave some of the concurrent calls without deliveries.
  const prefetch = Math.max(rabbitmq.prefetch, concurrency);
  const warning = consumerTimeoutWarning({ actorTimeoutMs: actor.timeoutMs, concurrency, prefetch });
  if (warning !== undefined) warn(warning);
  return rabbitMqTransport({ ...rabbitmq, prefetch, name: `asya ${actor.name}` });
}
