import type { TransportRecord } from '../../ports/transport-features.ts';

export const PUBSUB_RECORD: TransportRecord = {
  name: 'Pub/Sub',
  limits: { maxBodyBytes: 10_000_000, maxDelayMs: 30 * 86_400_000, maxBatch: 100 },
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
