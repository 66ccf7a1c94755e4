import { afterAll, beforeAll } from 'vitest';
import { RABBITMQ, RABBITMQ_TTL } from './subjects/rabbitmq-subject.ts';
import { type SharedRabbitMq, shareRabbitMq } from './subjects/rabbitmq-test-broker.ts';
import { transportContract } from './transport-contract.ts';

let lease: SharedRabbitMq | undefined;
beforeAll(async () => {
  // One broker for both subjects of this file.
  if (RABBITMQ.unavailable === undefined) lease = await shareRabbitMq();
}, 180_000);
afterAll(async () => lease?.end(), 60_000);

transportContract(RABBITMQ);
transportContract(RABBITMQ_TTL);
