import type { TransportRecord } from '../../ports/transport-features.ts';
import { SQS_LIMITS, SQS_MAX_BATCH } from './sqs-limits.ts';

export const SQS_RECORD: TransportRecord = {
  name: 'SQS',
  limits: { ...SQS_LIMITS, maxBatch: SQS_MAX_BATCH },
  features: {
    delays: 'yes',
    hidesForATime: 'yes',
    countsReceives: 'yes',
    deadLetters: 'yes',
    limitsBodies: 'yes',
    batchesSends: 'yes',
    settlesAfterReconnect: 'yes',
    tellsMissingQueues: 'yes',
    createsQueues: 'yes',
  },
};
