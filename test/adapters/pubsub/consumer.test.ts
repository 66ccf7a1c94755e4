import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { queueConsumer } from '../../../lib/adapters/pubsub/consumer.ts';
import { type Lease, leases } from '../../../lib/adapters/pubsub/leases.ts';
import type { Delivery, Receipt } from '../../../lib/ports/transport.ts';
import { errorOf, type FakeStream, fakeStream } from './a-stream.ts';

/** With fake streams, because the emulator ignores the window of a stream. */

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const UNAVAILABLE = 14;
const NOT_FOUND = 5;
const never = new AbortController().signal;

function makeConsumer() {
  const streams: FakeStream[] = [];
  const released: string[] = [];
  const manager = leases({
    visibilityMs: 600_000,
    minFirstMs: 10_000,
    setDeadline: async (ackId, seconds) => {
      if (seconds === 0) released.push(ackId);
      return { ok: true };
    },
  });
  const { receive, close } = queueConsumer({
    queue: 'q',
    leases: manager,
    waitMs: 20_000,
    open: (window, onMessages, onEnd) => {
      const stream = fakeStream(window, onMessages, onEnd);
      streams.push(stream);
      return stream;
    },
  });
  const last = () => streams.at(-1) as FakeStream;
  return { receive, close, manager, streams, last, released };
}

function bodiesOf(receipt: Receipt): readonly string[] {
  if (!receipt.ok) throw new Error(receipt.problem);
  return receipt.deliveries.map(({ body }) => String(body));
}

function leaseOf({ handle }: Delivery): Lease {
  return handle as Lease;
}

describe('a stream', () => {
  test('has the first request as its window, and is kept while requests fit', async () => {
    const { receive, manager, streams, last } = makeConsumer();
    for (let round = 0; round < 5; round++) {
      const receiving = receive(2, never);
      last().deliver(`a${round}`, `b${round}`);
      const receipt = await receiving;
      expect(bodiesOf(receipt)).toEqual([`a${round}`, `b${round}`]);
      if (receipt.ok) for (const delivery of receipt.deliveries) manager.end(leaseOf(delivery));
    }
    expect(streams.map(({ window }) => window)).toEqual([2]);
    manager.stop();
  });

  test('is replaced by a wider one when the host can process more', async () => {
    const { receive, manager, streams, last } = makeConsumer();
    const first = receive(2, never);
    last().deliver('a', 'b');
    await first;
    receive(5, never);
    expect(streams.map(({ window, calls }) => [window, calls])).toEqual([
      [2, ['stop']],
      [7, []],
    ]);
    manager.stop();
  });

  test('is replaced if its window is full of released deliveries that wait for their pause', async () => {
    const { receive, manager, streams, last } = makeConsumer();
    const receiving = receive(1, never);
    last().deliver('poison');
    const receipt = await receiving;
    if (receipt.ok) for (const delivery of receipt.deliveries) manager.release(leaseOf(delivery), 600);
    const next = receive(1, never);
    expect(streams.map(({ window }) => window)).toEqual([1, 1]);
    last().deliver('good');
    expect(bodiesOf(await next)).toEqual(['good']);
    manager.stop();
  });

  test('is replaced by a narrower one when the host requests much less, but not at once', async () => {
    const { receive, manager, streams, last } = makeConsumer();
    const receiveAndSettle = async (most: number) => {
      const receiving = receive(most, never);
      last().deliver('x');
      const receipt = await receiving;
      if (receipt.ok) for (const delivery of receipt.deliveries) manager.end(leaseOf(delivery));
    };
    await receiveAndSettle(100);
    await receiveAndSettle(10);
    expect(streams.map(({ window }) => window)).toEqual([100]);
    await vi.advanceTimersByTimeAsync(6_000);
    await receiveAndSettle(10);
    expect(streams.map(({ window }) => window)).toEqual([100, 10]);
    manager.stop();
  });

  test('still delivers late messages after it was replaced', async () => {
    const { receive, manager, streams } = makeConsumer();
    const first = receive(1, never);
    streams[0]?.deliver('a');
    await first;
    const second = receive(1, never);
    expect(streams).toHaveLength(2);
    streams[0]?.deliver('late');
    expect(bodiesOf(await second)).toEqual(['late']);
    streams[0]?.endWith();
    manager.stop();
  });
});

describe('messages that are not handed out', () => {
  test('are released if they arrive after the host stopped receiving', async () => {
    const { receive, manager, last, released } = makeConsumer();
    const first = receive(1, never);
    last().deliver('a', 'b', 'c');
    expect(bodiesOf(await first)).toEqual(['a']);
    expect(bodiesOf(await receive(1, never))).toEqual(['b']);
    const stop = new AbortController();
    expect(bodiesOf(await receive(1, stop.signal))).toEqual(['c']);
    const stopped = receive(1, stop.signal);
    stop.abort();
    expect(bodiesOf(await stopped)).toEqual([]);
    expect(last().calls).toEqual(['stop']);
    last().deliver('d');
    expect(released).toEqual(['ack-d']);
    manager.stop();
  });

  test('are released on close(), unlike the handed-out ones', async () => {
    const { receive, close, manager, last, released } = makeConsumer();
    const first = receive(1, never);
    last().deliver('a', 'b', 'c');
    await first;
    const closing = close();
    expect(last().calls).toEqual(['stop']);
    await vi.advanceTimersByTimeAsync(3_000);
    await closing;
    expect(last().calls).toEqual(['stop', 'cancel']);
    expect(released).toEqual(['ack-b', 'ack-c']);
    expect(bodiesOf(await receive(1, never))).toEqual([]);
    manager.stop();
  });

  test('are not released when a receive times out, and the stream stays open', async () => {
    const { receive, manager, streams, last, released } = makeConsumer();
    const receiving = receive(1, never);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(bodiesOf(await receiving)).toEqual([]);
    last().deliver('a');
    expect(bodiesOf(await receive(1, never))).toEqual(['a']);
    expect({ streams: streams.length, released }).toEqual({ streams: 1, released: [] });
    manager.stop();
  });
});

describe('the end of a stream', () => {
  test.each([
    ['without an error', undefined],
    ['with a transient error', errorOf(UNAVAILABLE)],
  ])('%s, after a while: another stream replaces it, and no problem is reported', async (_, error) => {
    const { receive, manager, streams, last } = makeConsumer();
    const receiving = receive(3, never);
    await vi.advanceTimersByTimeAsync(6_000);
    last().endWith(error);
    expect(streams.map(({ window }) => window)).toEqual([3, 3]);
    last().deliver('a');
    expect(bodiesOf(await receiving)).toEqual(['a']);
    manager.stop();
  });

  test('at once: the receive is refused, and the next one opens another stream', async () => {
    const { receive, manager, streams, last } = makeConsumer();
    const receiving = receive(1, never);
    last().endWith(errorOf(UNAVAILABLE));
    expect(await receiving).toEqual({ ok: false, problem: expect.stringContaining('SOMETHING') });
    const again = receive(1, never);
    last().deliver('a');
    expect(bodiesOf(await again)).toEqual(['a']);
    expect(streams).toHaveLength(2);
    manager.stop();
  });

  test('because the subscription is missing: the receive reports a missing queue, at any age of the stream', async () => {
    const { receive, manager, last } = makeConsumer();
    const receiving = receive(1, never);
    await vi.advanceTimersByTimeAsync(15_000);
    last().endWith(errorOf(NOT_FOUND));
    expect(await receiving).toEqual({ ok: false, problem: expect.any(String), isQueueMissing: true });
    manager.stop();
  });
});
