import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { sqsClient } from '../../../lib/adapters/sqs/sqs-client.ts';
import { type SqsTransportOptions, sqsTransport } from '../../../lib/adapters/sqs/sqs-transport.ts';
import type { Delivery, Transport } from '../../../lib/ports/transport.ts';
import { type EmbeddedSqs, startEmbeddedSqs } from '../../support/embedded-sqs.ts';
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';

/** One engine for the test file. Each test has its own queue, proxy and transport through the proxy. */
export interface ProxiedSqs {
  readonly engine: EmbeddedSqs;
  readonly proxy: FaultyProxy;
  readonly transport: Transport;
  readonly queue: string;
  /** Another transport through the proxy, closed after the test. */
  makeTransport(options?: Partial<SqsTransportOptions>): Transport;
  receive(count: number): Promise<readonly Delivery[]>;
}

export function useProxiedSqs(): () => ProxiedSqs {
  let engine: EmbeddedSqs | undefined;
  let current: ProxiedSqs | undefined;
  let transports: Transport[] = [];
  let tests = 0;

  beforeAll(async () => {
    engine = await startEmbeddedSqs();
  });
  afterAll(() => engine?.close());

  beforeEach(async () => {
    if (engine === undefined) throw new Error('the engine did not start');
    const proxy = await startFaultyProxy(engine.endpoint);
    const queue = `queue-${++tests}`;
    await engine.createQueue(queue);
    const makeTransport = (options: Partial<SqsTransportOptions> = {}) => {
      const client = sqsClient({ endpoint: proxy.endpoint, region: 'us-east-1' }, {});
      const made = sqsTransport({ client, visibilitySeconds: 30, waitSeconds: 1, ...options });
      transports.push(made);
      return made;
    };
    const transport = makeTransport();
    current = {
      engine,
      proxy,
      transport,
      queue,
      makeTransport,
      receive: async (count) => {
        const deliveries: Delivery[] = [];
        while (deliveries.length < count) {
          const most = Math.min(count - deliveries.length, 10);
          const receipt = await transport.receive(queue, most, AbortSignal.timeout(60_000));
          if (!receipt.ok || receipt.deliveries.length === 0)
            throw new Error(`received ${deliveries.length} of ${count}, then ${JSON.stringify(receipt)}`);
          deliveries.push(...receipt.deliveries);
        }
        return deliveries;
      },
    };
  });
  afterEach(async () => {
    await Promise.all(transports.map((transport) => transport.close()));
    transports = [];
    await current?.proxy.close();
  });

  return () => {
    if (current === undefined) throw new Error('not inside a test');
    return current;
  };
}
