/** Gathers what is to be done into batches, by count and by bytes, without holding anything back for long. */
export interface Batcher<Item, Result> {
  add(item: Item, bytes: number): Promise<Result>;
  /** Resolves when everything added so far is done. */
  drain(): Promise<void>;
}

export interface BatcherOptions<Item, Result> {
  readonly maxItems: number;
  readonly maxBytes: number;
  /** How long the first of a batch waits for others. */
  readonly lingerMs: number;
  /** Batches under way at once; what is more waits here, in its order. */
  readonly mostUnderWay: number;
  /** One result for each item, in order; never rejects. */
  readonly flush: (items: readonly Item[]) => Promise<readonly Result[]>;
}

interface Entry<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
}

export function batcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const { maxItems, maxBytes, lingerMs, mostUnderWay, flush } = options;
  const underWay = new Set<Promise<void>>();
  const waiting: Entry<Item, Result>[][] = [];
  let batch: Entry<Item, Result>[] = [];
  let bytesInBatch = 0;
  let timer: NodeJS.Timeout | undefined;

  function flushNow(): void {
    clearTimeout(timer);
    timer = undefined;
    const entries = batch;
    batch = [];
    bytesInBatch = 0;
    if (entries.length === 0) return;
    waiting.push(entries);
    startNext();
  }

  function startNext(): void {
    if (underWay.size >= mostUnderWay) return;
    const entries = waiting.shift();
    if (entries === undefined) return;
    const run = flush(entries.map(({ item }) => item)).then((results) => {
      underWay.delete(run);
      startNext();
      for (const [index, { resolve }] of entries.entries()) resolve(results[index] as Result);
    });
    underWay.add(run);
  }

  return {
    add: (item, bytes) =>
      new Promise((resolve) => {
        if (bytesInBatch + bytes > maxBytes) flushNow();
        batch.push({ item, resolve });
        bytesInBatch += bytes;
        if (batch.length >= maxItems) flushNow();
        else timer ??= setTimeout(flushNow, lingerMs);
      }),
    drain: async () => {
      flushNow();
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
