import type { TransportRecord } from '../../ports/transport-features.ts';
import { rabbitMqLimits } from './rabbitmq-limits.ts';

export const RABBITMQ_RECORD: TransportRecord = {
  name: 'RabbitMQ',
  limits: { ...rabbitMqLimits('none'), maxBatch: 1 },
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
    settlesAfterReconnect: {
      no: 'a delivery belongs to the connection it came over; once that is lost, RabbitMQ delivers it again',
    },
    tellsMissingQueues: 'yes',
    createsQueues: 'yes',
  },
};

/** With `ASYA_RABBITMQ_DELAY=ttl`. */
export const RABBITMQ_TTL_RECORD: TransportRecord = {
  name: 'RabbitMQ, `ttl`',
  limits: { ...rabbitMqLimits('ttl'), maxBatch: 1 },
  features: { ...RABBITMQ_RECORD.features, delays: 'yes' },
};
