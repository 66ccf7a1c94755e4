import { afterAll, beforeAll } from 'vitest';
import { type Lease, leaseRabbitMq } from './subjects/rabbitmq-bench.ts';
import { RABBITMQ, RABBITMQ_TTL } from './subjects/rabbitmq-subject.ts';
import { transportContract } from './transport-contract.ts';

let lease: Lease | undefined;
beforeAll(async () => {
  // For the whole file: one broker serves both.
  if (RABBITMQ.absence === undefined) lease = await leaseRabbitMq();
}, 180_000);
afterAll(async () => lease?.end(), 60_000);

transportContract(RABBITMQ);
transportContract(RABBITMQ_TTL);
