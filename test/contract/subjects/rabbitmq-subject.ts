import { rabbitMqAbsence } from '../../support/rabbitmq-broker.ts';
import type { Ability, ContractSubject } from '../contract-subject.ts';
import { rabbitMqBench } from './rabbitmq-bench.ts';

function rabbitMqSubject(name: string, delay: 'none' | 'ttl', delays: Ability): ContractSubject {
  const absence = rabbitMqAbsence();
  return {
    name,
    ...(absence === undefined ? {} : { absence }),
    features: {
      delays,
      hidesForATime: {
        no: 'RabbitMQ knows no visibility time: a delivery is its consumer’s for as long as the channel lives',
      },
      countsReceives: 'yes',
      deadLetters: 'yes',
      limitsBodies: 'yes',
      rawAstralCharacters: 'yes',
      tellsMissingQueues: 'yes',
      createsQueues: 'yes',
      tellsAttributes: 'yes',
      failsSingleEntries: { no: 'it sends one by one: there is no batch' },
      outages: 'yes',
      deepQueues: 'yes',
    },
    start: () => rabbitMqBench(delay),
  };
}

export const RABBITMQ = rabbitMqSubject('rabbitmq', 'none', {
  no: 'RabbitMQ delays nothing by itself; with ASYA_RABBITMQ_DELAY=ttl, the next subject, queues do',
});

/** With delays by queues whose messages expire. */
export const RABBITMQ_TTL = rabbitMqSubject('rabbitmq (ttl)', 'ttl', 'yes');
