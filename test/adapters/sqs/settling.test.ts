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
  it('made together are deleted together: 12 are 2 requests', async () => {
    const deliveries = await received(12);
    const { transport, engine, queue, proxy } = sqs();
    const replies = await Promise.all(deliveries.map((delivery) => transport.ack(delivery)));
    expect(replies).toEqual(deliveries.map(() => OK));
    const sizes = proxy.requestsOf('DeleteMessageBatch').map(({ input }) => input.Entries?.length);
    // Made at the same time, they come in any order.
    expect(new Set(sizes)).toEqual(new Set([10, 2]));
    expect(sizes).toHaveLength(2);
    expect(await engine.counts(queue)).toEqual({ visible: 0, hidden: 0, delayed: 0 });
  });

  it('of which one fails: exactly that one is refused', async () => {
    const deliveries = await received(4);
    const { transport, proxy, engine, queue } = sqs();
    const unlucky = deliveries[2];
    proxy.inject(
      onAction('DeleteMessageBatch', {
        kind: 'fail-entries',
        isChosen: ({ ReceiptHandle }) => ReceiptHandle === unlucky?.handle,
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
    if (!one || !two || !three || !four) throw new Error('four were received');
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

  it('never ask for more than the twelve hours that SQS knows', async () => {
    const [delivery] = await received(1);
    const { transport, proxy } = sqs();
    if (delivery === undefined) throw new Error('one was received');
    expect(await transport.nack(delivery, 50_000_000)).toEqual(OK);
    const [request] = proxy.requestsOf('ChangeMessageVisibilityBatch');
    expect(request?.input.Entries?.[0]?.VisibilityTimeout).toBe(43_200);
  });

  it('of a delivery that is settled already are refused, not thrown', async () => {
    const [delivery] = await received(1);
    const { transport } = sqs();
    if (delivery === undefined) throw new Error('one was received');
    await transport.ack(delivery);
    expect(await transport.nack(delivery, 0)).toEqual({ ok: false, problem: expect.any(String) });
    expect(await transport.extend(delivery)).toEqual({ ok: false, problem: expect.any(String) });
  });
});
