import { RABBITMQ_RECORD } from '../../../lib/adapters/rabbitmq/rabbitmq-features.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { rabbitMqAbsence, startRabbitMq } from '../../support/rabbitmq-broker.ts';
import { rabbitMqSidecarBroker } from '../brokers/rabbitmq-broker.ts';
import { runCases } from './run-cases.ts';

const absence = rabbitMqAbsence();

runCases({
  name: 'rabbitmq',
  ...defined({ absence }),
  maxBodyBytes: RABBITMQ_RECORD.limits.maxBodyBytes,
  start: async () => rabbitMqSidecarBroker(await startRabbitMq(), 'none'),
});
