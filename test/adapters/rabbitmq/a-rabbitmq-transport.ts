import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import {
  type RabbitMqTransportOptions,
  rabbitMqTransport,
} from '../../../lib/adapters/rabbitmq/rabbitmq-transport.ts';
import type { Transport } from '../../../lib/ports/transport.ts';
import { OK } from '../../contract/law.ts';

export function aRabbitMqTransport(
  options: Pick<RabbitMqTransportOptions, 'url'> & Partial<RabbitMqTransportOptions>,
): Transport {
  return rabbitMqTransport({
    exchange: 'asya',
    prefetch: 10,
    delay: 'none',
    name: 'test',
    waitMs: 1_000,
    ...options,
  });
}

export async function newQueue(transport: Transport): Promise<string> {
  const queue = `q-${randomUUID().slice(0, 8)}`;
  expect(await transport.ensureQueue(queue)).toEqual(OK);
  return queue;
}
