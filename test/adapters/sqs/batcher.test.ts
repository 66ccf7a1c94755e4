import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batcher } from '../../../lib/adapters/sqs/batcher.ts';

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
    mostUnderWay: 3,
    flush: async (items) => {
      batches.push(items);
      return items.map(({ name }) => `done ${name}`);
    },
  });
  return { batches, made };
}

/** Each as full as the next one lets it be. */
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

describe('the batcher', () => {
  it('keeps the order, fills each batch within both limits, and gives each item its own result', async () => {
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

  it('drains what has not left yet, and what is under way', async () => {
    const { batches, made } = recordingBatcher(3, 100);
    const results: string[] = [];
    for (let name = 0; name < 5; name++)
      made.add({ name, bytes: 1 }, 1).then((result) => results.push(result));
    await made.drain();
    await Promise.resolve();
    expect(batches.map((batch) => batch.length)).toEqual([3, 2]);
    expect(results).toHaveLength(5);
  });

  it('has so many under way and no more; the others follow in their order, also those that come in between', async () => {
    const answers: (() => void)[] = [];
    const begun: number[] = [];
    const made = batcher<number, number>({
      maxItems: 1,
      maxBytes: 100,
      lingerMs: 1,
      mostUnderWay: 2,
      flush: (items) => {
        begun.push(...items);
        return new Promise((resolve) => answers.push(() => resolve(items)));
      },
    });
    const first = [1, 2, 3, 4].map((item) => made.add(item, 1));
    expect(begun).toEqual([1, 2]);
    answers[1]?.();
    expect(await first[1]).toBe(2);
    expect(begun).toEqual([1, 2, 3]);
    const last = made.add(5, 1);
    const drained = made.drain();
    for (let next = 0; next < 5; next++) {
      expect(begun.length).toBeGreaterThan(next);
      answers[next]?.();
      await first[next];
    }
    expect(await last).toBe(5);
    await drained;
    expect(begun).toEqual([1, 2, 3, 4, 5]);
  });

  it('drains at once where there is nothing', async () => {
    await recordingBatcher(3, 100).made.drain();
  });
});
