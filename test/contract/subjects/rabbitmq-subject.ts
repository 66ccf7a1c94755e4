import { RABBITMQ_RECORD, RABBITMQ_TTL_RECORD } from '../../../lib/adapters/rabbitmq/rabbitmq-features.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import type { TransportRecord } from '../../../lib/ports/transport-features.ts';
import { rabbitMqAbsence } from '../../support/rabbitmq-broker.ts';
import type { ContractSubject } from '../contract-subject.ts';
import { rabbitMqTestBroker } from './rabbitmq-test-broker.ts';

function rabbitMqSubject(name: string, delay: 'none' | 'ttl', record: TransportRecord): ContractSubject {
  const absence = rabbitMqAbsence();
  return {
    name,
    ...defined({ absence }),
    features: {
      ...record.features,
      rawAstralCharacters: 'yes',
      describesQueues: 'yes',
      failsSingleSends: { no: 'it sends one by one: there is no batch' },
      outages: 'yes',
      deepQueues: 'yes',
    },
    start: () => rabbitMqTestBroker(delay),
  };
}

export const RABBITMQ = rabbitMqSubject('rabbitmq', 'none', RABBITMQ_RECORD);

/** With delays by queues whose messages expire. */
export const RABBITMQ_TTL = rabbitMqSubject('rabbitmq (ttl)', 'ttl', RABBITMQ_TTL_RECORD);
