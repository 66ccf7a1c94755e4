import { describe, expect, it } from 'vitest';
import { useProxiedSqs } from './a-proxied-sqs.ts';
import { onAction } from './faulty-proxy.ts';

const sqs = useProxiedSqs();

const OK = { ok: true };

async function received(count: number) {
  const { transport, queue, receive } = sqs();
  await Promise.all(Array.from({ length: count }, (_, index) => transport.send(queue, `${index}`)));
  return receive(count);
}

describe('acks', () => {
  it('are sent in batches: 12 acks are 2 requests', async () => {
    const deliveries = await received(12);
    const { transport, engine, queue, proxy } = sqs();
    const replies = await Promise.all(deliveries.map((delivery) => transport.ack(delivery)));
    expect(replies).toEqual(deliveries.map(() => OK));
    const sizes = proxy.requestsOf('DeleteMessageBatch').map(({ input }) => input.Entries?.length);
    // Concurrent requests arrive in any order.
    expect(new Set(sizes)).toEqual(new Set([10, 2]));
    expect(sizes).toHaveLength(2);
    expect(await engine.counts(queue)).toEqual({ visible: 0, hidden: 0, delayed: 0 });
  });

  it('are refused individually: only the failed one', async () => {
    const deliveries = await received(4);
    const { transport, proxy, engine, queue } = sqs();
    const failing = deliveries[2];
    proxy.inject(
      onAction('DeleteMessageBatch', {
        kind: 'fail-entries',
        isChosen: ({ ReceiptHandle }) => ReceiptHandle === failing?.handle,
      }),
    );
    const replies = await Promise.all(deliveries.map((delivery) => transport.ack(delivery)));
    expect(replies.map(({ ok }) => ok)).toEqual([true, true, false, true]);
    expect(await engine.counts(queue)).toEqual({ visible: 0, hidden: 1, delayed: 0 });
  });
});

describe('nacks and extensions', () => {
  it('share a request, each with its own visibility, rounded up', async () => {
    const deliveries = await received(4);
    const { transport, proxy } = sqs();
    const [one, two, three, four] = deliveries;
    if (!one || !two || !three || !four) throw new Error('expected four deliveries');
    const replies = await Promise.all([
      transport.nack(one, 0),
      transport.nack(two, 1),
      transport.extend(three),
      transport.nack(four, 15_000),
    ]);
    expect(replies).toEqual([OK, OK, OK, OK]);
    const requests = proxy.requestsOf('ChangeMessageVisibilityBatch');
    expect(requests.map(({ input }) => input.Entries?.map((entry) => entry.VisibilityTimeout))).toEqual([
      [0, 1, 30, 15],
    ]);
  });

  it('never request more than the twelve hours that SQS allows', async () => {
    const [delivery] = await received(1);
    const { transport, proxy } = sqs();
    if (delivery === undefined) throw new Error('expected one delivery');
    expect(await transport.nack(delivery, 50_000_000)).toEqual(OK);
    const [request] = proxy.requestsOf('ChangeMessageVisibilityBatch');
    expect(request?.input.Entries?.[0]?.VisibilityTimeout).toBe(43_200);
  });

  it('of a settled delivery are refused, without throwing', async () => {
    const [delivery] = await received(1);
    const { transport } = sqs();
    if (delivery === undefined) throw new Error('expected one delivery');
    await transport.ack(delivery);
    expect(await transport.nack(delivery, 0)).toEqual({ ok: false, problem: expect.any(String) });
    expect(await transport.extend(delivery)).toEqual({ ok: false, problem: expect.any(String) });
  });
});
