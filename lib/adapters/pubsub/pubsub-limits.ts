import type { Limits } from '../../core/delivery/actor.ts';
import { MAX_DELAY_MS } from '../../core/pipeline/delayer.ts';

/**
 * Limits of one message. In its own file, so that importing it does not load the client library. A request may have 10 MB,
 * including the topic's name and the attributes.
 */
export const PUBSUB_LIMITS: Limits = { maxDelayMs: MAX_DELAY_MS, maxBodyBytes: 9_990_000 };

/** Most messages of one publish request. */
export const PUBSUB_MAX_BATCH = 1_000;

/** Limits of a subscription's ack deadline. The deadline of a single message may also be 0. */
export const MIN_DEADLINE_SECONDS = 10;
export const MAX_DEADLINE_SECONDS = 600;

/** The smallest `maxDeliveryAttempts` of a dead-letter policy. */
export const MIN_DELIVERY_ATTEMPTS = 5;

/** The longest retention that both Pub/Sub and its emulator accept. */
export const MAX_RETENTION_SECONDS = 7 * 86_400;
