import type { TransportRecord } from '../../ports/transport-features.ts';
import { SQS_LIMITS, SQS_MAX_BATCH } from './sqs-limits.ts';

export const SQS_RECORD: TransportRecord = {
  name: 'SQS',
  limits: { ...SQS_LIMITS, maxBatch: SQS_MAX_BATCH },
  features: {
    delays: 'yes',
    redeliversAfterTimeout: 'yes',
    countsReceives: 'yes',
    deadLetters: 'yes',
    refusesLargeBodies: 'yes',
    batchesSends: 'yes',
    settlesAfterReconnect: 'yes',
    reportsMissingQueues: 'yes',
    createsQueues: 'yes',
  },
};
