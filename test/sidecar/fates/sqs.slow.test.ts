import { SQS_RECORD } from '../../../lib/adapters/sqs/sqs-features.ts';
import { startEmbeddedSqs } from '../../support/embedded-sqs.ts';
import { sqsBroker } from '../brokers/sqs-broker.ts';
import { runFates } from './run-fates.ts';

runFates({
  name: 'sqs (embedded)',
  maxBodyBytes: SQS_RECORD.limits.maxBodyBytes,
  start: async () => sqsBroker(await startEmbeddedSqs()),
});
