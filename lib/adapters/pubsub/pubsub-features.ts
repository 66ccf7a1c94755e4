import { MAX_DELAYED_BYTES } from '../../core/pipeline/delayer.ts';
import type { TransportRecord } from '../../ports/transport-features.ts';
import { PUBSUB_LIMITS, PUBSUB_MAX_BATCH } from './pubsub-limits.ts';

export const PUBSUB_RECORD: TransportRecord = {
  name: 'Pub/Sub',
  limits: { ...PUBSUB_LIMITS, maxBatch: PUBSUB_MAX_BATCH, maxDelayedBodyBytes: MAX_DELAYED_BYTES },
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
