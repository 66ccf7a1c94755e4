import { SQS_RECORD } from '../../../lib/adapters/sqs/sqs-features.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { motoMissing, startMoto } from '../../support/moto-server.ts';
import type { ContractSubject } from '../contract-subject.ts';
import { sqsTestBroker } from './sqs-test-broker.ts';

/** Another SQS implementation, if it is installed. */
export const MOTO: ContractSubject = {
  name: 'sqs (moto)',
  ...defined({ unavailable: motoMissing() }),
  features: {
    ...SQS_RECORD.features,
    rawAstralCharacters: 'yes',
    describesQueues: 'yes',
    failsSingleSends: 'yes',
    outages: 'yes',
    deepQueues: { no: 'a receive in moto takes longer the more messages the queue has' },
  },
  start: async () => sqsTestBroker(await startMoto()),
};
