import { rabbitMqTransport } from '../../../lib/adapters/rabbitmq/rabbitmq-transport.ts';
import type { Transport } from '../../../lib/ports/transport.ts';
import type { MakerModule } from '../contract-subject.ts';

/** Laws hold many deliveries at once without settling any. */
const PREFETCH = 50;

export const makeTransport: MakerModule['makeTransport'] = ({ url, delay, waitMs }): Transport =>
  rabbitMqTransport({
    url: String(url),
    exchange: 'asya',
    prefetch: PREFETCH,
    delay: delay === 'ttl' ? 'ttl' : 'none',
    name: 'contract',
    waitMs,
  });
