import type { TransportRecord } from '../../ports/transport-features.ts';
import { rabbitMqLimits } from './rabbitmq-limits.ts';

export const RABBITMQ_RECORD: TransportRecord = {
  name: 'RabbitMQ',
  limits: { ...rabbitMqLimits('none'), maxBatch: 1 },
  features: {
    delays: {
      no: 'RabbitMQ has no delayed sends: the first retry ends at x-sink with `RuntimeError`, while `noRetry` and `onExhausted` work; `ASYA_RABBITMQ_DELAY=ttl` adds delays',
    },
    redeliversAfterTimeout: {
      no: "RabbitMQ waits for an ack as long as the consumer's connection is open, up to the server's `consumer_timeout`; after a lost connection it redelivers immediately",
    },
    countsReceives: 'yes',
    deadLetters: 'yes',
    refusesLargeBodies: 'yes',
    batchesSends: { no: 'each message is published and confirmed individually' },
    settlesAfterReconnect: {
      no: 'a delivery belongs to its connection; if the connection is lost, RabbitMQ delivers the message again',
    },
    reportsMissingQueues: 'yes',
    createsQueues: 'yes',
  },
};

/** With `ASYA_RABBITMQ_DELAY=ttl`. */
export const RABBITMQ_TTL_RECORD: TransportRecord = {
  name: 'RabbitMQ, `ttl`',
  limits: { ...rabbitMqLimits('ttl'), maxBatch: 1 },
  features: { ...RABBITMQ_RECORD.features, delays: 'yes' },
};
