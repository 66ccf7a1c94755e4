import { SQS_RECORD } from '../../../lib/adapters/sqs/sqs-features.ts';
import { startEmbeddedSqs } from '../../support/embedded-sqs.ts';
import { sqsBroker } from '../brokers/sqs-broker.ts';
import { nodeRuntime } from '../sidecar-process.ts';
import { runCases } from './run-cases.ts';

runCases({
  name: 'sqs (embedded), with runtimes in Node',
  maxBodyBytes: SQS_RECORD.limits.maxBodyBytes,
  runtime: nodeRuntime('behaviours.ts.handle'),
  start: async () => sqsBroker(await startEmbeddedSqs()),
});
