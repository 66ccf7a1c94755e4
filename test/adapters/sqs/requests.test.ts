import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sqsClient } from '../../../lib/adapters/sqs/sqs-client.ts';
import { sqsTransport } from '../../../lib/adapters/sqs/sqs-transport.ts';
import { useProxiedSqs } from './a-proxied-sqs.ts';
import { type Fault, OVERLOADED, onAction, THROTTLED } from './faulty-proxy.ts';

const sqs = useProxiedSqs();

const OK = { ok: true };
const REFUSED = { ok: false, problem: expect.any(String) };

afterEach(() => {
  vi.unstubAllEnvs();
});

function withoutAwsEnvironment(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
}

describe('requests', () => {
  it('for a hop of ten envelopes are three: receive, send, delete', async () => {
    const { engine, transport, queue, proxy, receive } = sqs();
    await engine.createQueue(`${queue}-next`);
    for (let index = 0; index < 10; index++) await engine.send(queue, `${index}`);
    const deliveries = await receive(10);
    await Promise.all(deliveries.map(({ body }) => transport.send(`${queue}-next`, String(body))));
    await Promise.all(deliveries.map((delivery) => transport.ack(delivery)));
    const actions = proxy.requests.map(({ action }) => action).filter((action) => action !== 'GetQueueUrl');
    expect(actions).toEqual(['ReceiveMessage', 'SendMessageBatch', 'DeleteMessageBatch']);
  });

  it('that are sequential share one connection', async () => {
    const { transport, queue, proxy, receive } = sqs();
    for (let index = 0; index < 15; index++) await transport.send(queue, `${index}`);
    for (const delivery of await receive(15)) await transport.ack(delivery);
    expect(proxy.requests.length).toBeGreaterThan(30);
    expect(proxy.connections).toBe(1);
  });

  it('that are concurrent share a few connections, which are reused', async () => {
    const { transport, queue, proxy } = sqs();
    const sendMany = () =>
      Promise.all(Array.from({ length: 60 }, (_, index) => transport.send(queue, `${index}`)));
    await sendMany();
    const { connections } = proxy;
    await sendMany();
    await sendMany();
    expect(proxy.requestsOf('SendMessageBatch')).toHaveLength(18);
    expect(connections).toBeLessThanOrEqual(6);
    expect(proxy.connections).toBeLessThanOrEqual(6);
  });

  it('of a large fan-out are queued before they need a connection, so that they do not time out', async () => {
    const { transport, queue, proxy } = sqs();
    const bodies = Array.from({ length: 2_000 }, (_, index) => `${index}`);
    expect(await Promise.all(bodies.map((body) => transport.send(queue, body)))).toEqual(
      bodies.map(() => OK),
    );
    expect(proxy.requestsOf('SendMessageBatch')).toHaveLength(200);
    expect(proxy.connections).toBeLessThanOrEqual(40);
  });
});

describe('close()', () => {
  it('leaves no connection open', async () => {
    const { transport, queue, proxy } = sqs();
    await Promise.all(Array.from({ length: 30 }, (_, index) => transport.send(queue, `${index}`)));
    expect(proxy.openConnections).toBeGreaterThan(0);
    await transport.close();
    await expect.poll(() => proxy.openConnections, { timeout: 60_000 }).toBe(0);
  });
});

describe('the URL of a queue', () => {
  const MISSING = { ok: false, problem: expect.any(String), isQueueMissing: true };

  it.each(['send', 'receive'] as const)(
    'is requested again after a %s found the queue missing',
    async (what) => {
      const { transport, queue, proxy, engine } = sqs();
      const use = () =>
        what === 'send'
          ? transport.send(queue, '1')
          : transport.receive(queue, 1, AbortSignal.timeout(60_000));
      await use();
      await engine.client.send(
        new DeleteQueueCommand({ QueueUrl: `${engine.endpoint}/000000000000/${queue}` }),
      );
      expect(await use()).toEqual(MISSING);
      expect(proxy.requestsOf('GetQueueUrl')).toHaveLength(1);
      await engine.createQueue(queue);
      expect(await use()).toMatchObject(OK);
      expect(proxy.requestsOf('GetQueueUrl')).toHaveLength(2);
    },
  );
});

describe('an abort', () => {
  it('ends a receive that is waiting for the URL of its queue', async () => {
    const { transport, queue, proxy } = sqs();
    proxy.inject(onAction('GetQueueUrl', { kind: 'delay', milliseconds: 2_500 }));
    const stop = new AbortController();
    const receiving = transport.receive(queue, 1, stop.signal);
    await sleep(100);
    stop.abort();
    const first = await Promise.race([receiving, sleep(1_000, 'still waiting')]);
    await receiving;
    expect(first).toEqual({ ok: true, deliveries: [] });
  });
});

describe('faults of the network or the service', () => {
  it.each<[string, Fault]>([
    ['a broken connection', { kind: 'drop' }],
    ['a lost answer', { kind: 'drop-answer' }],
    ['a service error', OVERLOADED],
    ['throttling', THROTTLED],
    ['a slow answer', { kind: 'delay', milliseconds: 300 }],
  ])('do not fail a request if they occur once: %s', async (_what, fault) => {
    const { transport, queue, proxy, receive } = sqs();
    proxy.inject(onAction('SendMessageBatch', fault, 1));
    proxy.inject(onAction('DeleteMessageBatch', fault, 1));
    expect(await transport.send(queue, '1')).toEqual(OK);
    const [delivery] = await receive(1);
    if (delivery === undefined) throw new Error('expected one delivery');
    expect(await transport.ack(delivery)).toEqual(OK);
  });

  it('lose no message if the answer to a receive is lost', async () => {
    const { makeTransport, queue, proxy, engine } = sqs();
    await engine.send(queue, '"not lost"');
    proxy.inject(onAction('ReceiveMessage', { kind: 'drop-answer' }, 1));
    // The poll returns the message as soon as it is visible again.
    const receiver = makeTransport({ visibilitySeconds: 1, waitSeconds: 20 });
    const receipt = await receiver.receive(queue, 1, AbortSignal.timeout(60_000));
    expect(receipt.ok && receipt.deliveries.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
      ['"not lost"', 2],
    ]);
  });

  it.each<[string, Fault]>([
    ['broken connections', { kind: 'drop' }],
    ['service errors', OVERLOADED],
    ['throttling', THROTTLED],
  ])('refuse every send of a batch if they persist, but not as a missing queue: %s', async (_what, fault) => {
    const { transport, queue, proxy } = sqs();
    proxy.inject(onAction('SendMessageBatch', fault));
    const replies = await Promise.all(['1', '2', '3'].map((body) => transport.send(queue, body)));
    expect(replies).toEqual([REFUSED, REFUSED, REFUSED]);
    for (const reply of replies) expect(!reply.ok && reply.problem).toContain(queue);
  });

  it('are not cached for the URL of a queue', async () => {
    const { transport, queue, proxy } = sqs();
    const stop = proxy.inject(onAction('GetQueueUrl', { kind: 'drop' }));
    expect(await transport.send(queue, '1')).toEqual(REFUSED);
    expect(await transport.checkQueue(queue)).toEqual(REFUSED);
    stop();
    expect(await transport.send(queue, '1')).toEqual(OK);
    expect(await transport.checkQueue(queue)).toEqual(OK);
  });

  it('of one queue do not affect other queues', async () => {
    const { transport, queue, proxy, engine } = sqs();
    await engine.createQueue(`${queue}-other`);
    proxy.inject(({ input }) => (input.QueueUrl?.endsWith(queue) ? OVERLOADED : undefined));
    const replies = await Promise.all([transport.send(queue, '1'), transport.send(`${queue}-other`, '1')]);
    expect(replies).toEqual([REFUSED, OK]);
  });
});

describe('the client', () => {
  it('uses the given endpoint, even if queue URLs have another host', async () => {
    const { transport, queue, proxy } = sqs();
    await transport.send(queue, '1');
    const [request] = proxy.requestsOf('SendMessageBatch');
    // The engine puts its own address in queue URLs, not the proxy's.
    expect(new URL(request?.input.QueueUrl ?? '').host).not.toBe(new URL(proxy.endpoint).host);
  });

  it.each(['127.0.0.1', 'localhost'])('needs no credentials for %s', async (host) => {
    withoutAwsEnvironment();
    // Without a home directory, the SDK finds no credentials in files either.
    vi.stubEnv('HOME', '/nonexistent');
    const { engine, queue } = sqs();
    const endpoint = `http://${host}:${new URL(engine.endpoint).port}`;
    const client = sqsClient({ endpoint, region: 'us-east-1' }, process.env);
    const transport = sqsTransport({ client, visibilitySeconds: 30, waitSeconds: 0 });
    expect(await transport.send(queue, '1')).toEqual(OK);
    await transport.close();
  });

  it('uses the credentials of the environment if there are any', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'mine');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    vi.stubEnv('AWS_SESSION_TOKEN', undefined);
    const client = sqsClient({ endpoint: 'http://127.0.0.1:1', region: 'us-east-1' }, process.env);
    expect(await client.config.credentials()).toMatchObject({ accessKeyId: 'mine' });
    client.destroy();
  });

  it('does not use dummy credentials for a remote endpoint', async () => {
    withoutAwsEnvironment();
    vi.stubEnv('HOME', '/nonexistent');
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    const client = sqsClient({ endpoint: 'https://sqs.example.com', region: 'us-east-1' }, process.env);
    await expect(client.config.credentials()).rejects.toThrow();
    client.destroy();
  });

  it('uses the endpoint of the region by default', async () => {
    const client = sqsClient({ region: 'eu-central-1' }, {});
    expect(await client.config.region()).toBe('eu-central-1');
    expect(client.config.endpoint).toBeUndefined();
    client.destroy();
  });
});
