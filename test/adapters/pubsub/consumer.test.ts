import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { queueConsumer } from '../../../lib/adapters/pubsub/consumer.ts';
import { type Lease, leases } from '../../../lib/adapters/pubsub/leases.ts';
import type { Delivery, Receipt } from '../../../lib/ports/transport.ts';
import { errorOf, type FakeStream, fakeStream } from './a-stream.ts';

/** Streams that obey, so that what is asked of them can be seen: the emulator knows no windows. */

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const UNAVAILABLE = 14;
const NOT_FOUND = 5;
const never = new AbortController().signal;

function anIntake() {
  const streams: FakeStream[] = [];
  const released: string[] = [];
  const held = leases({
    visibilityMs: 600_000,
    minFirstMs: 10_000,
    setDeadline: async (ackId, seconds) => {
      if (seconds === 0) released.push(ackId);
      return { ok: true };
    },
  });
  const { receive, close } = queueConsumer({
    queue: 'q',
    leases: held,
    waitMs: 20_000,
    open: (window, onMessages, onEnd) => {
      const stream = fakeStream(window, onMessages, onEnd);
      streams.push(stream);
      return stream;
    },
  });
  const last = () => streams.at(-1) as FakeStream;
  return { receive, close, held, streams, last, released };
}

function bodiesOf(receipt: Receipt): readonly string[] {
  if (!receipt.ok) throw new Error(receipt.problem);
  return receipt.deliveries.map(({ body }) => String(body));
}

function leaseOf({ handle }: Delivery): Lease {
  return handle as Lease;
}

describe('the window is what the host can work on', () => {
  test('what it asks for, at first; and the stream is kept as long as that fits', async () => {
    const { receive, held, streams, last } = anIntake();
    for (let turn = 0; turn < 5; turn++) {
      const receiving = receive(2, never);
      last().bring(`a${turn}`, `b${turn}`);
      const receipt = await receiving;
      expect(bodiesOf(receipt)).toEqual([`a${turn}`, `b${turn}`]);
      if (receipt.ok) for (const delivery of receipt.deliveries) held.end(leaseOf(delivery));
    }
    expect(streams.map(({ window }) => window)).toEqual([2]);
    held.stop();
  });

  test('what it holds and what it asks for besides, once it can do more', async () => {
    const { receive, held, streams, last } = anIntake();
    const first = receive(2, never);
    last().bring('a', 'b');
    await first;
    receive(5, never);
    expect(streams.map(({ window, did }) => [window, did])).toEqual([
      [2, ['left']],
      [7, []],
    ]);
    held.stop();
  });

  test('deliveries that rest after a release do not block the others', async () => {
    const { receive, held, streams, last } = anIntake();
    const receiving = receive(1, never);
    last().bring('poison');
    const receipt = await receiving;
    if (receipt.ok) for (const delivery of receipt.deliveries) held.release(leaseOf(delivery), 600);
    const next = receive(1, never);
    expect(streams.map(({ window }) => window)).toEqual([1, 1]);
    last().bring('good');
    expect(bodiesOf(await next)).toEqual(['good']);
    held.stop();
  });

  test('narrower again when it can do much less, but not at once', async () => {
    const { receive, held, streams, last } = anIntake();
    const ask = async (most: number) => {
      const receiving = receive(most, never);
      last().bring('x');
      const receipt = await receiving;
      if (receipt.ok) for (const delivery of receipt.deliveries) held.end(leaseOf(delivery));
    };
    await ask(100);
    await ask(10);
    expect(streams.map(({ window }) => window)).toEqual([100]);
    await vi.advanceTimersByTimeAsync(6_000);
    await ask(10);
    expect(streams.map(({ window }) => window)).toEqual([100, 10]);
    held.stop();
  });

  test('what a stream still brings after it was left is handed out too', async () => {
    const { receive, held, streams } = anIntake();
    const first = receive(1, never);
    streams[0]?.bring('a');
    await first;
    const second = receive(1, never);
    expect(streams).toHaveLength(2);
    streams[0]?.bring('late');
    expect(bodiesOf(await second)).toEqual(['late']);
    streams[0]?.endWith();
    held.stop();
  });
});

describe('what nobody is given goes back', () => {
  test('when the host stops asking, and when it was on its way', async () => {
    const { receive, held, last, released } = anIntake();
    const first = receive(1, never);
    last().bring('a', 'b', 'c');
    expect(bodiesOf(await first)).toEqual(['a']);
    expect(bodiesOf(await receive(1, never))).toEqual(['b']);
    const stop = new AbortController();
    expect(bodiesOf(await receive(1, stop.signal))).toEqual(['c']);
    const stopped = receive(1, stop.signal);
    stop.abort();
    expect(bodiesOf(await stopped)).toEqual([]);
    expect(last().did).toEqual(['left']);
    last().bring('d');
    expect(released).toEqual(['ack-d']);
    held.stop();
  });

  test('when it is closed; what is in hand is left alone', async () => {
    const { receive, close, held, last, released } = anIntake();
    const first = receive(1, never);
    last().bring('a', 'b', 'c');
    await first;
    const closing = close();
    expect(last().did).toEqual(['left']);
    await vi.advanceTimersByTimeAsync(3_000);
    await closing;
    expect(last().did).toEqual(['left', 'cancelled']);
    expect(released).toEqual(['ack-b', 'ack-c']);
    expect(bodiesOf(await receive(1, never))).toEqual([]);
    held.stop();
  });

  test('a receive that waits longer than it may gets nothing, and the stream goes on', async () => {
    const { receive, held, streams, last, released } = anIntake();
    const receiving = receive(1, never);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(bodiesOf(await receiving)).toEqual([]);
    last().bring('a');
    expect(bodiesOf(await receive(1, never))).toEqual(['a']);
    expect({ streams: streams.length, released }).toEqual({ streams: 1, released: [] });
    held.stop();
  });
});

describe('the end of a stream', () => {
  test.each([
    ['plainly', undefined],
    ['because the service ends it now and then', errorOf(UNAVAILABLE)],
  ])('%s, after a while: another takes its place, and nobody is told', async (_, error) => {
    const { receive, held, streams, last } = anIntake();
    const receiving = receive(3, never);
    await vi.advanceTimersByTimeAsync(6_000);
    last().endWith(error);
    expect(streams.map(({ window }) => window)).toEqual([3, 3]);
    last().bring('a');
    expect(bodiesOf(await receiving)).toEqual(['a']);
    held.stop();
  });

  test('at once: told, and the next receive tries again', async () => {
    const { receive, held, streams, last } = anIntake();
    const receiving = receive(1, never);
    last().endWith(errorOf(UNAVAILABLE));
    expect(await receiving).toEqual({ ok: false, problem: expect.stringContaining('SOMETHING') });
    const again = receive(1, never);
    last().bring('a');
    expect(bodiesOf(await again)).toEqual(['a']);
    expect(streams).toHaveLength(2);
    held.stop();
  });

  test('because the subscription is gone: told as such, however long it lived', async () => {
    const { receive, held, last } = anIntake();
    const receiving = receive(1, never);
    await vi.advanceTimersByTimeAsync(15_000);
    last().endWith(errorOf(NOT_FOUND));
    expect(await receiving).toEqual({ ok: false, problem: expect.any(String), isQueueMissing: true });
    held.stop();
  });
});
