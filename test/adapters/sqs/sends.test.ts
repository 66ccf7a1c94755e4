import { describe, expect, it, vi } from 'vitest';
import { sqsClient } from '../../../lib/adapters/sqs/sqs-client.ts';
import type { Reply } from '../../../lib/ports/reply.ts';
import { useProxiedSqs } from './a-proxied-sqs.ts';
import { onAction, type ProxiedRequest } from './faulty-proxy.ts';

const sqs = useProxiedSqs();

const MAX_BYTES = 1024 * 1024;
const OK = { ok: true };

/** Largest batches first, because concurrent requests arrive in any order. */
function sends(): readonly ProxiedRequest[] {
  return sqs()
    .proxy.requestsOf('SendMessageBatch')
    .toSorted((one, other) => bodiesIn(other).length - bodiesIn(one).length);
}

function bodiesIn({ input }: ProxiedRequest): readonly string[] {
  return (input.Entries ?? []).map(({ MessageBody = '' }) => MessageBody);
}

function bytesIn(request: ProxiedRequest): number {
  return bodiesIn(request).reduce((sum, body) => sum + Buffer.byteLength(body), 0);
}

function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `{"n":${index}}`);
}

function sendAll(bodies: readonly string[]): Promise<readonly Reply[]> {
  const { transport, queue } = sqs();
  return Promise.all(bodies.map((body) => transport.send(queue, body)));
}

describe('batches of sends', () => {
  it('are limited by count: 25 sends are 3 requests', async () => {
    const bodies = numbered(25);
    expect(await sendAll(bodies)).toEqual(bodies.map(() => OK));
    expect(sends().map((request) => bodiesIn(request).length)).toEqual([10, 10, 5]);
    expect(sends().flatMap(bodiesIn).toSorted()).toEqual(bodies.toSorted());
  });

  it('are limited by bytes: 3 sends of 400 KB are 2 requests, none above 1 MiB', async () => {
    const bodies = [1, 2, 3].map((digit) => `"${String(digit).repeat(400 * 1024)}"`);
    expect(await sendAll(bodies)).toEqual([OK, OK, OK]);
    expect(sends().map((request) => bodiesIn(request).length)).toEqual([2, 1]);
    for (const request of sends()) expect(bytesIn(request)).toBeLessThanOrEqual(MAX_BYTES);
  });

  it('are measured in bytes, not in characters', async () => {
    // Each has 300 thousand characters and 600 thousand bytes: two would fit by characters.
    const bodies = ['ä', 'ö', 'ü'].map((letter) => `"${letter.repeat(300_000)}"`);
    expect(await sendAll(bodies)).toEqual([OK, OK, OK]);
    for (const request of sends()) expect(bytesIn(request)).toBeLessThanOrEqual(MAX_BYTES);
  });

  it('are filled to the last byte, but not beyond', async () => {
    const half = `"${'x'.repeat(MAX_BYTES / 2 - 2)}"`;
    expect(await sendAll([half, half, '1'])).toEqual([OK, OK, OK]);
    expect(sends().map(bytesIn)).toEqual([MAX_BYTES, 1]);
  });

  it('are separate for each queue', async () => {
    const { transport, queue, engine } = sqs();
    await engine.createQueue(`${queue}-other`);
    await Promise.all([
      transport.send(queue, '1'),
      transport.send(`${queue}-other`, '2'),
      transport.send(queue, '3'),
    ]);
    expect(sends().map(bodiesIn)).toEqual([['1', '3'], ['2']]);
  });

  it('do not wait for later sends', async () => {
    const { transport, queue, proxy } = sqs();
    for (const body of ['1', '2', '3']) expect(await transport.send(queue, body)).toEqual(OK);
    expect(proxy.requestsOf('SendMessageBatch').map(bodiesIn)).toEqual([['1'], ['2'], ['3']]);
  });

  it('request the URL of a queue once', async () => {
    await sendAll(numbered(25));
    await sendAll(numbered(25));
    expect(sqs().proxy.requestsOf('GetQueueUrl')).toHaveLength(1);
  });

  it('do not contain a body that is too large', async () => {
    const [reply] = await sendAll([`"${'x'.repeat(MAX_BYTES)}"`]);
    expect(reply).toEqual({ ok: false, problem: expect.stringContaining('1048578') });
    expect(sqs().proxy.requestsOf('SendMessageBatch')).toEqual([]);
  });
});

describe('entries that fail inside a batch', () => {
  it('are refused individually, and the others are accepted', async () => {
    const { proxy, engine, queue } = sqs();
    proxy.inject(
      onAction('SendMessageBatch', {
        kind: 'fail-entries',
        isChosen: ({ MessageBody }) => /[37]/.test(MessageBody ?? ''),
      }),
    );
    const replies = await sendAll(numbered(10));
    expect(replies.flatMap(({ ok }, index) => (ok ? [] : [index]))).toEqual([3, 7]);
    expect(replies[3]).toEqual({ ok: false, problem: expect.stringMatching(/^InternalError: .+/) });
    expect(await engine.takeUntil(queue, 8)).toHaveLength(8);
    expect(await engine.counts(queue)).toEqual({ visible: 0, hidden: 0, delayed: 0 });
  });

  it('are all refused if all failed', async () => {
    sqs().proxy.inject(onAction('SendMessageBatch', { kind: 'fail-entries', isChosen: () => true }));
    const replies = await sendAll(numbered(12));
    expect(replies.map(({ ok }) => ok)).toEqual(Array(12).fill(false));
  });
});

describe('entries that the answer does not mention', () => {
  const EMPTY_SUCCESS = { kind: 'fake-success', output: {} } as const;

  it('are refused, because the broker did not confirm them', async () => {
    sqs().proxy.inject(onAction('SendMessageBatch', EMPTY_SUCCESS));
    const replies = await sendAll(numbered(3));
    expect(replies.map(({ ok }) => ok)).toEqual([false, false, false]);
  });
});

describe('DelaySeconds', () => {
  it.each([
    [0, undefined],
    [1, 1],
    [999, 1],
    [1_000, 1],
    [1_001, 2],
    [899_001, 900],
    [900_000, 900],
  ])('%d ms are sent as %s s: rounded up, and omitted without a delay', async (delayMs, seconds) => {
    const { transport, queue, proxy } = sqs();
    expect(await transport.sendWithDelay(queue, '1', delayMs)).toEqual(OK);
    const [request] = proxy.requestsOf('SendMessageBatch');
    expect(request?.input.Entries?.[0]?.DelaySeconds).toBe(seconds);
  });

  it('is set for each entry of a mixed batch', async () => {
    const { transport, queue, proxy } = sqs();
    await Promise.all([
      transport.send(queue, '"now"'),
      transport.sendWithDelay(queue, '"later"', 5_000),
      transport.sendWithDelay(queue, '"latest"', 900_000),
    ]);
    const requests = proxy.requestsOf('SendMessageBatch');
    expect(
      requests.map(({ input }) =>
        input.Entries?.map(({ MessageBody, DelaySeconds }) => [MessageBody, DelaySeconds]),
      ),
    ).toEqual([
      [
        ['"now"', undefined],
        ['"later"', 5],
        ['"latest"', 900],
      ],
    ]);
  });
});

describe('characters that SQS refuses', () => {
  it('are escaped, but no others', async () => {
    const { transport, queue, proxy } = sqs();
    expect(await transport.send(queue, '"\ufffe \uffff \ufffd \u2028 é"')).toEqual(OK);
    expect(proxy.requestsOf('SendMessageBatch').flatMap(bodiesIn)).toEqual([
      '"\\ufffe \\uffff \ufffd \u2028 é"',
    ]);
  });
});

describe('a request without an answer', () => {
  it('is retried on another connection, long before a poll would time out', async () => {
    const { proxy, queue, makeTransport } = sqs();
    const transport = makeTransport({ requestTimeoutMs: 3_000 });
    proxy.inject(onAction('SendMessageBatch', { kind: 'hang' }, 1));
    expect(await transport.send(queue, '1')).toEqual(OK);
    const [first, second] = sends();
    expect(second?.connection).not.toBe(first?.connection);
  });

  it('has a timeout that grows with its size, except for a poll', async () => {
    const { proxy, queue, makeTransport } = sqs();
    const client = sqsClient({ endpoint: proxy.endpoint, region: 'us-east-1' }, {});
    const sent = vi.spyOn(client, 'send');
    const transport = makeTransport({ client });
    await transport.send(queue, '1');
    await transport.send(queue, `"${'x'.repeat(MAX_BYTES - 2)}"`);
    const receipt = await transport.receive(queue, 1, AbortSignal.timeout(60_000));
    for (const delivery of receipt.ok ? receipt.deliveries : []) await transport.ack(delivery);
    const timeouts = sent.mock.calls.map(([command, options]) => [
      command.constructor.name,
      (options as { requestTimeout?: number } | undefined)?.requestTimeout,
    ]);
    expect(timeouts).toEqual([
      ['GetQueueUrlCommand', 15_000],
      ['SendMessageBatchCommand', 15_000],
      // At 16 KB a second a whole batch takes 65 s.
      ['SendMessageBatchCommand', 15_000 + MAX_BYTES / 16],
      ['ReceiveMessageCommand', undefined],
      ['DeleteMessageBatchCommand', 15_000],
    ]);
  });
});
