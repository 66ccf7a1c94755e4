import { MAX_DELAYED_BYTES } from '../../core/pipeline/delayer.ts';
import type { TransportRecord } from '../../ports/transport-features.ts';
import { PUBSUB_LIMITS, PUBSUB_MAX_BATCH } from './pubsub-limits.ts';

export const PUBSUB_RECORD: TransportRecord = {
  name: 'Pub/Sub',
  limits: { ...PUBSUB_LIMITS, maxBatch: PUBSUB_MAX_BATCH, maxDelayedBodyBytes: MAX_DELAYED_BYTES },
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
