import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { batcher } from '../../lib/async/batcher.ts';

interface Sized {
  readonly name: number;
  readonly bytes: number;
}

function recordingBatcher(maxItems: number, maxBytes: number) {
  const batches: (readonly Sized[])[] = [];
  const made = batcher<Sized, string>({
    maxItems,
    maxBytes,
    lingerMs: 1,
    maxInFlight: 3,
    run: async (items) => {
      batches.push(items);
      return items.map(({ name }) => `done ${name}`);
    },
  });
  return { batches, made };
}

/** The batches that the limits allow, each as full as possible. */
function packed(items: readonly Sized[], maxItems: number, maxBytes: number): readonly (readonly Sized[])[] {
  const batches: Sized[][] = [];
  for (const item of items) {
    const last = batches.at(-1);
    const bytes = (last ?? []).reduce((sum, one) => sum + one.bytes, item.bytes);
    if (last === undefined || last.length === maxItems || bytes > maxBytes) batches.push([item]);
    else last.push(item);
  }
  return batches;
}

/** A service that answers when the test calls `answer`. */
function aService<Item>() {
  const requests: Item[][] = [];
  const answers: ((isAccepted: boolean) => void)[] = [];
  return {
    requests,
    run: (items: readonly Item[]) => {
      requests.push([...items]);
      return new Promise<readonly Item[]>((resolve, reject) =>
        answers.push((isAccepted) => (isAccepted ? resolve(items) : reject(new Error('refused')))),
      );
    },
    /** Answers the oldest open request. */
    answer: (isAccepted = true) => answers.shift()?.(isAccepted),
  };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

afterEach(() => {
  vi.useRealTimers();
});

describe('batcher with a linger time', () => {
  it('keeps the order, fills batches within both limits, and returns a result per item', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 10 }),
        async (sizes, maxItems) => {
          const { batches, made } = recordingBatcher(maxItems, 100);
          const items = sizes.map((bytes, name) => ({ name, bytes }));
          const results = await Promise.all(items.map((item) => made.add(item, item.bytes)));
          expect(results).toEqual(items.map(({ name }) => `done ${name}`));
          expect(batches).toEqual(packed(items, maxItems, 100));
        },
      ),
      { numRuns: 100, seed: 20_260_101 },
    );
  });

  it('waits for other items as long as the linger time', async () => {
    vi.useFakeTimers();
    const service = aService<string>();
    const { add } = batcher({ run: service.run, lingerMs: 4 });
    add('a');
    await vi.advanceTimersByTimeAsync(3);
    add('b');
    expect(service.requests).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(service.requests).toEqual([['a', 'b']]);
  });

  it('restarts the linger time for the batch after a full one', async () => {
    vi.useFakeTimers();
    const service = aService<string>();
    const { add } = batcher({ run: service.run, lingerMs: 4, maxItems: 2, maxInFlight: 2 });
    add('a');
    await vi.advanceTimersByTimeAsync(3);
    add('b');
    add('c');
    expect(service.requests).toEqual([['a', 'b']]);
    await vi.advanceTimersByTimeAsync(3);
    expect(service.requests).toEqual([['a', 'b']]);
    await vi.advanceTimersByTimeAsync(1);
    expect(service.requests).toEqual([['a', 'b'], ['c']]);
  });

  it('sends waiting items when it is flushed', () => {
    vi.useFakeTimers();
    const service = aService<string>();
    const { add, flush } = batcher({ run: service.run, lingerMs: 1_000 });
    add('a');
    add('b');
    flush();
    expect(service.requests).toEqual([['a', 'b']]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('fills a flushed batch further while it waits for a free slot', async () => {
    const service = aService<string>();
    const { add, flush } = batcher({ run: service.run, lingerMs: 1_000 });
    for (const item of ['a', 'b', 'c']) {
      add(item);
      flush();
    }
    expect(service.requests).toEqual([['a']]);
    service.answer();
    await nextTurn();
    expect(service.requests).toEqual([['a'], ['b', 'c']]);
  });

  it('drains items that wait and items in flight', async () => {
    const { batches, made } = recordingBatcher(3, 100);
    const results: string[] = [];
    for (let name = 0; name < 5; name++)
      made.add({ name, bytes: 1 }, 1).then((result) => results.push(result));
    await made.drain();
    await Promise.resolve();
    expect(batches.map((batch) => batch.length)).toEqual([3, 2]);
    expect(results).toHaveLength(5);
  });

  it('limits the batches in flight and starts the others in order', async () => {
    const answers: (() => void)[] = [];
    const started: number[] = [];
    const made = batcher<number, number>({
      maxItems: 1,
      maxBytes: 100,
      lingerMs: 1,
      maxInFlight: 2,
      run: (items) => {
        started.push(...items);
        return new Promise((resolve) => answers.push(() => resolve(items)));
      },
    });
    const first = [1, 2, 3, 4].map((item) => made.add(item, 1));
    expect(started).toEqual([1, 2]);
    answers[1]?.();
    expect(await first[1]).toBe(2);
    expect(started).toEqual([1, 2, 3]);
    const last = made.add(5, 1);
    const drained = made.drain();
    for (let next = 0; next < 5; next++) {
      expect(started.length).toBeGreaterThan(next);
      answers[next]?.();
      await first[next];
    }
    expect(await last).toBe(5);
    await drained;
    expect(started).toEqual([1, 2, 3, 4, 5]);
  });

  it('drains at once if it is empty', async () => {
    await recordingBatcher(3, 100).made.drain();
  });

  it('drops the oldest waiting items on overflow', async () => {
    const service = aService<string>();
    const overflow = { maxWaiting: 2, result: 'dropped' };
    const { add, flush } = batcher({ run: service.run, lingerMs: 1_000, maxItems: 1, overflow });
    const results = ['a', 'b', 'c', 'd'].map((item) => add(item));
    flush();
    expect(await results[1]).toBe('dropped');
    for (let answers = 0; answers < 3; answers++) {
      service.answer();
      await nextTurn();
    }
    expect(await Promise.all(results)).toEqual(['a', 'dropped', 'c', 'd']);
  });
});

describe('batcher without a linger time', () => {
  it('sends a single item at once, and then the items that arrived meanwhile', async () => {
    const service = aService<string>();
    const { add } = batcher({ maxItems: 10, run: service.run });
    const first = add('a');
    await nextTurn();
    expect(service.requests).toEqual([['a']]);
    const others = [add('b'), add('c')];
    await nextTurn();
    expect(service.requests).toEqual([['a']]);
    service.answer();
    expect(await first).toBe('a');
    await nextTurn();
    expect(service.requests).toEqual([['a'], ['b', 'c']]);
    service.answer();
    expect(await Promise.all(others)).toEqual(['b', 'c']);
  });

  it('sends items of the same nextTurn together, within the limit', async () => {
    const service = aService<string>();
    const { add } = batcher({ maxItems: 2, run: service.run });
    for (const item of ['a', 'b', 'c', 'd', 'e']) add(item);
    for (let answers = 0; answers < 3; answers++) {
      await nextTurn();
      service.answer();
    }
    await nextTurn();
    expect(service.requests).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });

  it('drains all added items', async () => {
    const service = aService<string>();
    const { add, drain } = batcher({ maxItems: 1, run: service.run });
    const results: string[] = [];
    add('a').then((result) => results.push(result));
    add('b').then((result) => results.push(result));
    let isDrained = false;
    const draining = drain().then(() => {
      isDrained = true;
    });
    await nextTurn();
    service.answer();
    await nextTurn();
    expect(isDrained).toBe(false);
    service.answer();
    await draining;
    expect(results).toEqual(['a', 'b']);
    await drain();
  });

  it('rejects every item of a batch that rejects, and continues with the next', async () => {
    const service = aService<string>();
    const { add } = batcher({ run: service.run });
    const refused = Promise.allSettled([add('a'), add('b')]);
    await nextTurn();
    const next = add('c');
    service.answer(false);
    expect(await refused).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    await nextTurn();
    service.answer();
    expect(await next).toBe('c');
  });

  it('counts items that wait and items in flight', async () => {
    const service = aService<string>();
    const made = batcher({ run: service.run });
    const first = made.add('a');
    await nextTurn();
    const second = made.add('b');
    expect(made.size).toBe(2);
    service.answer();
    await first;
    expect(made.size).toBe(1);
    await nextTurn();
    service.answer();
    await second;
    expect(made.size).toBe(0);
  });
});
