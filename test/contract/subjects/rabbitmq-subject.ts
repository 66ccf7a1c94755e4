import { RABBITMQ_RECORD, RABBITMQ_TTL_RECORD } from '../../../lib/adapters/rabbitmq/rabbitmq-features.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import type { TransportRecord } from '../../../lib/ports/transport-features.ts';
import { rabbitMqAbsence } from '../../support/rabbitmq-broker.ts';
import type { ContractSubject } from '../contract-subject.ts';
import { rabbitMqTestBroker } from './rabbitmq-test-broker.ts';

function rabbitMqSubject(name: string, delay: 'none' | 'ttl', record: TransportRecord): ContractSubject {
  return {
    name,
    ...defined({ unavailable: rabbitMqAbsence() }),
    features: {
      ...record.features,
      rawAstralCharacters: 'yes',
      describesQueues: 'yes',
      failsSingleSends: { no: 'it sends each message individually, without batches' },
      outages: 'yes',
      deepQueues: 'yes',
    },
    start: () => rabbitMqTestBroker(delay),
  };
}

export const RABBITMQ = rabbitMqSubject('rabbitmq', 'none', RABBITMQ_RECORD);

/** With delays through queues whose messages expire. */
export const RABBITMQ_TTL = rabbitMqSubject('rabbitmq (ttl)', 'ttl', RABBITMQ_TTL_RECORD);
