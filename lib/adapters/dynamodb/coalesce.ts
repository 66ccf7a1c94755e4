/**
 * Work on one key goes one at a time: what comes while some is under way waits for it, and is then done together, as
 * one. Each of those who asked gets what all of it came to.
 */
export function coalesce<Item, Result>(
  work: (key: string, items: readonly Item[]) => Promise<Result>,
): (key: string, item: Item) => Promise<Result> {
  const waiting = new Map<string, { readonly items: Item[]; readonly result: Promise<Result> }>();
  const underWay = new Map<string, Promise<unknown>>();

  return (key, item) => {
    const gathered = waiting.get(key);
    if (gathered !== undefined) {
      gathered.items.push(item);
      return gathered.result;
    }
    const items = [item];
    const begin = () => {
      waiting.delete(key);
      return work(key, items);
    };
    const result = (underWay.get(key) ?? Promise.resolve()).then(begin, begin);
    const done = () => {
      if (underWay.get(key) === result) underWay.delete(key);
    };
    waiting.set(key, { items, result });
    underWay.set(key, result);
    result.then(done, done);
    return result;
  };
}
