import { SQS_RECORD } from '../../../lib/adapters/sqs/sqs-features.ts';
import { startEmbeddedSqs } from '../../support/embedded-sqs.ts';
import type { ContractSubject } from '../contract-subject.ts';
import { sqsTestBroker } from './sqs-test-broker.ts';

/** SQS in the embedded engine. */
export const EMBEDDED_SQS: ContractSubject = {
  name: 'sqs (embedded)',
  features: {
    ...SQS_RECORD.features,
    rawAstralCharacters: {
      no: 'fauxqs 2.4.1 rejects surrogate pairs as invalid characters; SQS accepts U+10000 to U+10FFFF',
    },
    describesQueues: 'yes',
    failsSingleSends: 'yes',
    outages: 'yes',
    deepQueues: 'yes',
  },
  start: async () => {
    const { endpoint, close } = await startEmbeddedSqs();
    return sqsTestBroker({ endpoint, account: '000000000000', close });
  },
};

/** The same with the client of functions on Lambda. */
export const EMBEDDED_SLIM_SQS: ContractSubject = {
  ...EMBEDDED_SQS,
  name: 'sqs slim (embedded)',
  start: async () => {
    const { endpoint, close } = await startEmbeddedSqs();
    return sqsTestBroker({ endpoint, account: '000000000000', close }, 'slim');
  },
};
