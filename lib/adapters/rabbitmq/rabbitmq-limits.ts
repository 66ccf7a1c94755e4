import type { Limits } from '../../core/delivery/actor.ts';

export type RabbitMqDelay = 'none' | 'ttl';

const DAY_MS = 86_400_000;

/** The default of RabbitMQ 4 (RabbitMQ 3.10 accepts 128 MiB), and also the limit of one request to a runtime. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * RabbitMQ has no delayed sends; queues whose messages expire provide them. Longer delays are split into several, so that
 * they do not need more queues.
 */
export function rabbitMqLimits(delay: RabbitMqDelay): Limits {
  return { maxDelayMs: delay === 'ttl' ? DAY_MS : 0, maxBodyBytes: MAX_BODY_BYTES };
}
