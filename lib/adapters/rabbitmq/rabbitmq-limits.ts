import type { Limits } from '../../core/delivery/actor.ts';

export type RabbitMqDelay = 'none' | 'ttl';

const DAY_MS = 86_400_000;

/**
 * What one message may be: no more than RabbitMQ 4 takes without being told otherwise (3.10 takes 128 MiB), which is
 * also what a runtime takes in one request.
 */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * RabbitMQ itself delays nothing; queues whose messages expire do. Longer delays are made of several, so that there
 * need not be queues for them too.
 */
export function rabbitMqLimits(delay: RabbitMqDelay): Limits {
  return { maxDelayMs: delay === 'ttl' ? DAY_MS : 0, maxBodyBytes: MAX_BODY_BYTES };
}
