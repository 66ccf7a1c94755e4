import { pubsubClient } from '../../adapters/pubsub/pubsub-client.ts';
import { pubsubTransport } from '../../adapters/pubsub/pubsub-transport.ts';
import type { BrokerConfig } from '../../config/settings/host-config.ts';
import { defined } from '../../core/text/defined.ts';
import type { Transport } from '../../ports/transport.ts';

/** The Pub/Sub transport. A delivery stays hidden for twice the actor's timeout, as on SQS. */
export async function pubsubFromConfig({ pubsub, actor }: BrokerConfig): Promise<Transport> {
  const { projectId, endpoint, delayerTopic } = pubsub;
  if (projectId === undefined) throw new Error('internal error: the Pub/Sub configuration has no project id');
  return pubsubTransport({
    client: await pubsubClient({ projectId, ...defined({ endpoint }) }),
    visibilityMs: actor.timeoutMs * 2,
    delayerTopic,
  });
}
