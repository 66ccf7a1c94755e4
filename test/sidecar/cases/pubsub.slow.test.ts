import { PUBSUB_RECORD } from '../../../lib/adapters/pubsub/pubsub-features.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { PUBSUB_ABSENCE } from '../../support/pubsub.ts';
import { startPubsubWithDelayer } from '../../support/pubsub-with-delayer.ts';
import { pubsubBroker } from '../brokers/pubsub-broker.ts';
import { runCases } from './run-cases.ts';

runCases({
  name: 'pubsub (emulator)',
  ...defined({ absence: PUBSUB_ABSENCE }),
  maxBodyBytes: PUBSUB_RECORD.limits.maxBodyBytes,
  start: async () => pubsubBroker(await startPubsubWithDelayer()),
});
