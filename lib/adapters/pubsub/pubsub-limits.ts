import type { Limits } from '../../core/delivery/actor.ts';
import { MAX_DELAY_MS } from '../../core/pipeline/delayer.ts';

/**
 * What Pub/Sub takes in one message: for whoever has to know it without talking to it. A request has 10 MB in all, and
 * the topic's name and the attributes are in it too.
 */
export const PUBSUB_LIMITS: Limits = { maxDelayMs: MAX_DELAY_MS, maxBodyBytes: 9_990_000 };

/** As many messages as Pub/Sub takes in one request. */
export const PUBSUB_MAX_BATCH = 1_000;

/** The bounds of an ack deadline; setting one by itself may go down to 0. */
export const MIN_DEADLINE_SECONDS = 10;
export const MAX_DEADLINE_SECONDS = 600;

/** The fewest that a dead-letter policy takes. */
export const MIN_DELIVERY_ATTEMPTS = 5;

/** The longest retention that every Pub/Sub takes, the emulator included. */
export const MAX_RETENTION_SECONDS = 7 * 86_400;
