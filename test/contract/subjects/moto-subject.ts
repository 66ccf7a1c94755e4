import { SQS_RECORD } from '../../../lib/adapters/sqs/sqs-features.ts';
import { motoAvailability, startMoto } from '../../support/moto.ts';
import type { ContractSubject } from '../contract-subject.ts';
import { sqsTestBroker } from './sqs-test-broker.ts';

/** Another SQS implementation, if it is installed. */
export const MOTO: ContractSubject = {
  name: 'sqs (moto)',
  ...motoAvailability(),
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

/** The same with the client of functions on Lambda. */
export const SLIM_MOTO: ContractSubject = {
  ...MOTO,
  name: 'sqs slim (moto)',
  start: async () => sqsTestBroker(await startMoto(), 'slim'),
};
