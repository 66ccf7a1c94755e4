import { type Batcher, batcher } from './batcher.ts';

/**
 * Runs the work of each key one at a time. Items that arrive while the key's work is running wait, and are then worked on
 * in one go. Every caller of a run gets its result, or its error.
 */
export function coalesce<Item, Result>(
  work: (key: string, items: readonly Item[]) => Promise<Result>,
): (key: string, item: Item) => Promise<Result> {
  const batchers = new Map<string, Batcher<Item, Result>>();

  function batcherOf(key: string): Batcher<Item, Result> {
    const known = batchers.get(key);
    if (known !== undefined) return known;
    const made = batcher<Item, Result>({
      run: async (items) => {
        const result = await work(key, items);
        return items.map(() => result);
      },
    });
    batchers.set(key, made);
    return made;
  }

  return async (key, item) => {
    const batches = batcherOf(key);
    try {
      return await batches.add(item);
    } finally {
      if (batches.size === 0 && batchers.get(key) === batches) batchers.delete(key);
    }
  };
}
