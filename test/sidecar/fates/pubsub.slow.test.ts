import { PUBSUB_RECORD } from '../../../lib/adapters/pubsub/pubsub-features.ts';
import { PUBSUB_ABSENCE } from '../../support/pubsub.ts';
import { startPubsubWithDelayer } from '../../support/pubsub-with-delayer.ts';
import { pubsubBroker } from '../brokers/pubsub-broker.ts';
import { runFates } from './run-fates.ts';

runFates({
  name: 'pubsub (emulator)',
  ...(PUBSUB_ABSENCE === undefined ? {} : { absence: PUBSUB_ABSENCE }),
  maxBodyBytes: PUBSUB_RECORD.limits.maxBodyBytes,
  start: async () => pubsubBroker(await startPubsubWithDelayer()),
});
