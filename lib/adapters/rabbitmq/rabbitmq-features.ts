import type { TransportRecord } from '../../ports/transport-features.ts';

/** The server's own `max_message_size`, as it is set where nobody sets it. */
const MAX_BODY_BYTES = 128 * 1024 * 1024;

export const RABBITMQ: TransportRecord = {
  name: 'RabbitMQ',
  limits: { maxBodyBytes: MAX_BODY_BYTES, maxDelayMs: 0, maxBatch: 1 },
  features: {
    delays: {
      no: 'RabbitMQ has no delayed sends of its own: the first retry ends at x-sink with `RuntimeError`, while `noRetry` and `onExhausted` work; `ASYA_RABBITMQ_DELAY=ttl` gives delays',
    },
    hidesForATime: {
      no: "RabbitMQ waits for an ack for as long as the consumer's connection lives, up to the server's `consumer_timeout`; what a lost connection held comes again at once",
    },
    countsReceives: 'yes',
    deadLetters: 'yes',
    limitsBodies: 'yes',
    batchesSends: { no: 'each message is published and confirmed by itself' },
    confirmsSettling: { no: 'AMQP does not answer acks and rejects' },
    settlesAfterReconnect: {
      no: 'a delivery belongs to the connection it came over; once that is lost, RabbitMQ delivers it again',
    },
    tellsMissingQueues: 'yes',
    createsQueues: 'yes',
  },
};

/** With `ASYA_RABBITMQ_DELAY=ttl`. */
export const RABBITMQ_TTL: TransportRecord = {
  name: 'RabbitMQ, `ttl`',
  // As far as a TTL goes in RabbitMQ.
  limits: { ...RABBITMQ.limits, maxDelayMs: 2 ** 32 - 1 },
  features: { ...RABBITMQ.features, delays: 'yes' },
};
