import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteQueueCommand } from '@aws-sdk/client-sqs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sqsClient } from '../../../lib/adapters/sqs/sqs-client.ts';
import { sqsTransport } from '../../../lib/adapters/sqs/sqs-transport.ts';
import { useProxiedSqs } from './a-proxied-sqs.ts';
import { type Misdeed, OVERLOADED, onAction, THROTTLED } from './faulty-proxy.ts';

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
  it('of a hop for ten envelopes are three: receive, send, delete', async () => {
    const { engine, transport, queue, proxy, receive } = sqs();
    await engine.createQueue(`${queue}-next`);
    for (let index = 0; index < 10; index++) await engine.send(queue, `${index}`);
    const deliveries = await receive(10);
    await Promise.all(deliveries.map(({ body }) => transport.send(`${queue}-next`, String(body))));
    await Promise.all(deliveries.map((delivery) => transport.ack(delivery)));
    const actions = proxy.requests.map(({ action }) => action).filter((action) => action !== 'GetQueueUrl');
    expect(actions).toEqual(['ReceiveMessage', 'SendMessageBatch', 'DeleteMessageBatch']);
  });

  it('one after the other share one connection', async () => {
    const { transport, queue, proxy, receive } = sqs();
    for (let index = 0; index < 15; index++) await transport.send(queue, `${index}`);
    for (const delivery of await receive(15)) await transport.ack(delivery);
    expect(proxy.requests.length).toBeGreaterThan(30);
    expect(proxy.connections).toBe(1);
  });

  it('at the same time share a few connections, which are kept', async () => {
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

  it('of a large fan-out wait for their turn here, and not for one of the connections, where they would time out', async () => {
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

describe('the address of a queue', () => {
  const MISSING = { ok: false, problem: expect.any(String), isQueueMissing: true };

  it.each(['send', 'receive'] as const)('is asked for again once a %s has found it wrong', async (what) => {
    const { transport, queue, proxy, engine } = sqs();
    const use = () =>
      what === 'send' ? transport.send(queue, '1') : transport.receive(queue, 1, AbortSignal.timeout(60_000));
    await use();
    await engine.client.send(
      new DeleteQueueCommand({ QueueUrl: `${engine.endpoint}/000000000000/${queue}` }),
    );
    expect(await use()).toEqual(MISSING);
    expect(proxy.requestsOf('GetQueueUrl')).toHaveLength(1);
    await engine.createQueue(queue);
    expect(await use()).toMatchObject(OK);
    expect(proxy.requestsOf('GetQueueUrl')).toHaveLength(2);
  });
});

describe('an abort', () => {
  it('ends a receive also while the address of its queue is still to come', async () => {
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

describe('trouble on the way', () => {
  it.each<[string, Misdeed]>([
    ['a connection that breaks', { kind: 'drop' }],
    ['an answer that is lost', { kind: 'drop-answer' }],
    ['an error of the service', OVERLOADED],
    ['being throttled', THROTTLED],
    ['a slow answer', { kind: 'delay', milliseconds: 300 }],
  ])('%s, once, is got over', async (_what, misdeed) => {
    const { transport, queue, proxy, receive } = sqs();
    proxy.inject(onAction('SendMessageBatch', misdeed, 1));
    proxy.inject(onAction('DeleteMessageBatch', misdeed, 1));
    expect(await transport.send(queue, '1')).toEqual(OK);
    const [delivery] = await receive(1);
    if (delivery === undefined) throw new Error('one was received');
    expect(await transport.ack(delivery)).toEqual(OK);
  });

  it('a receive whose answer is lost loses nothing: what it took comes again', async () => {
    const { makeTransport, queue, proxy, engine } = sqs();
    await engine.send(queue, '"not lost"');
    proxy.inject(onAction('ReceiveMessage', { kind: 'drop-answer' }, 1));
    // It comes as soon as it is visible again, however long the poll may take.
    const impatient = makeTransport({ visibilitySeconds: 1, waitSeconds: 20 });
    const receipt = await impatient.receive(queue, 1, AbortSignal.timeout(60_000));
    expect(receipt.ok && receipt.deliveries.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
      ['"not lost"', 2],
    ]);
  });

  it.each<[string, Misdeed]>([
    ['breaking connections', { kind: 'drop' }],
    ['errors of the service', OVERLOADED],
    ['being throttled', THROTTLED],
  ])('%s, for good, refuse every send of the batch, and not as a missing queue', async (_what, misdeed) => {
    const { transport, queue, proxy } = sqs();
    proxy.inject(onAction('SendMessageBatch', misdeed));
    const replies = await Promise.all(['1', '2', '3'].map((body) => transport.send(queue, body)));
    expect(replies).toEqual([REFUSED, REFUSED, REFUSED]);
    for (const reply of replies) expect(!reply.ok && reply.problem).toContain(queue);
  });

  it('at GetQueueUrl is not remembered', async () => {
    const { transport, queue, proxy } = sqs();
    const stop = proxy.inject(onAction('GetQueueUrl', { kind: 'drop' }));
    expect(await transport.send(queue, '1')).toEqual(REFUSED);
    expect(await transport.reach(queue)).toEqual(REFUSED);
    stop();
    expect(await transport.send(queue, '1')).toEqual(OK);
    expect(await transport.reach(queue)).toEqual(OK);
  });

  it('with one queue leaves the others alone', async () => {
    const { transport, queue, proxy, engine } = sqs();
    await engine.createQueue(`${queue}-other`);
    proxy.inject(({ input }) => (input.QueueUrl?.endsWith(queue) ? OVERLOADED : undefined));
    const replies = await Promise.all([transport.send(queue, '1'), transport.send(`${queue}-other`, '1')]);
    expect(replies).toEqual([REFUSED, OK]);
  });
});

describe('the client', () => {
  it('goes to the endpoint it is given, whatever the queue URLs say', async () => {
    const { transport, queue, proxy } = sqs();
    await transport.send(queue, '1');
    const [request] = proxy.requestsOf('SendMessageBatch');
    // The engine's own idea of its address, which nobody here can reach.
    expect(new URL(request?.input.QueueUrl ?? '').host).not.toBe(new URL(proxy.endpoint).host);
  });

  it.each(['127.0.0.1', 'localhost'])('needs no credentials for %s', async (host) => {
    withoutAwsEnvironment();
    // Where the SDK would look next; there is nothing.
    vi.stubEnv('HOME', '/nonexistent');
    const { engine, queue } = sqs();
    const endpoint = `http://${host}:${new URL(engine.endpoint).port}`;
    const client = sqsClient({ endpoint, region: 'us-east-1' }, process.env);
    const transport = sqsTransport({ client, visibilitySeconds: 30, waitSeconds: 0 });
    expect(await transport.send(queue, '1')).toEqual(OK);
    await transport.close();
  });

  it('takes the credentials of the environment where there are some', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'mine');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    vi.stubEnv('AWS_SESSION_TOKEN', undefined);
    const client = sqsClient({ endpoint: 'http://127.0.0.1:1', region: 'us-east-1' }, process.env);
    expect(await client.config.credentials()).toMatchObject({ accessKeyId: 'mine' });
    client.destroy();
  });

  it('hands out no made-up credentials for an endpoint elsewhere', async () => {
    withoutAwsEnvironment();
    vi.stubEnv('HOME', '/nonexistent');
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    const client = sqsClient({ endpoint: 'https://sqs.example.com', region: 'us-east-1' }, process.env);
    await expect(client.config.credentials()).rejects.toThrow();
    client.destroy();
  });

  it('without an endpoint is the region’s own', async () => {
    const client = sqsClient({ region: 'eu-central-1' }, {});
    expect(await client.config.region()).toBe('eu-central-1');
    expect(client.config.endpoint).toBeUndefined();
    client.destroy();
  });
});
