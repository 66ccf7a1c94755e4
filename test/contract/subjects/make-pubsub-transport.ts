import { pubsubClient } from '../../../lib/adapters/pubsub/pubsub-client.ts';
import { pubsubTransport } from '../../../lib/adapters/pubsub/pubsub-transport.ts';
import type { MakerModule } from '../contract-subject.ts';

export const makeTransport: MakerModule['makeTransport'] = async ({
  projectId,
  endpoint,
  delayerTopic,
  visibilityMs,
  waitMs,
}) =>
  pubsubTransport({
    client: await pubsubClient({ projectId: String(projectId), endpoint: String(endpoint) }),
    delayerTopic: String(delayerTopic),
    visibilityMs,
    waitMs,
  });
