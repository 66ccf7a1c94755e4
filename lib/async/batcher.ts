/** Collects items into batches and runs each batch as one request. Items and batches keep their order. */
export interface Batcher<Item, Result> {
  /** Adds an item. Resolves with its result, or rejects if its batch rejects. */
  add(item: Item, bytes?: number): Promise<Result>;
  /** Sends everything that waits as soon as a request slot is free, without waiting for the linger time. */
  flush(): void;
  /** Flushes. Resolves when everything added so far is done. */
  drain(): Promise<void>;
  /** Number of items that wait or are in flight. */
  readonly size: number;
}

export interface BatcherOptions<Item, Result> {
  /** Sends one batch. Returns one result per item, in order. If it rejects, every item of the batch rejects. */
  readonly run: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Most items per batch. @default unlimited */
  readonly maxItems?: number;
  /** Most bytes per batch, as passed to `add`. A larger single item gets its own batch. @default unlimited */
  readonly maxBytes?: number;
  /** Most batches in flight at the same time. Other batches wait, and accept items until they are full. @default 1 */
  readonly maxInFlight?: number;
  /**
   * How long the first item of a batch waits for others. A full batch does not wait.
   * @default no timer: a batch leaves with everything added in the same turn of the event loop, or while it waits for a slot
   */
  readonly lingerMs?: number;
  /** Whether the linger timer keeps the process alive. @default true */
  readonly keepsProcessAlive?: boolean;
  /** Most items that wait. Beyond that the oldest item is dropped and resolves with `result`. @default unlimited */
  readonly overflow?: { readonly maxWaiting: number; readonly result: Result };
}

interface Entry<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface Batch<Item, Result> {
  readonly entries: Entry<Item, Result>[];
  bytes: number;
  /** Whether the batch starts as soon as a slot is free. Only the last batch can still linger. */
  isDue: boolean;
}

export function batcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const { run, maxItems = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY } = options;
  const { maxInFlight = 1, lingerMs, keepsProcessAlive = true, overflow } = options;
  const inFlight = new Set<Promise<void>>();
  const waiting: Batch<Item, Result>[] = [];
  let waitingItems = 0;
  let itemsInFlight = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStartScheduled = false;

  function openBatch(bytes: number): Batch<Item, Result> {
    const last = waiting.at(-1);
    if (last !== undefined && last.entries.length < maxItems && last.bytes + bytes <= maxBytes) return last;
    if (last !== undefined) makeDue(last);
    const opened = { entries: [], bytes: 0, isDue: false };
    waiting.push(opened);
    return opened;
  }

  function makeDue(last: Batch<Item, Result>): void {
    if (last.isDue) return;
    last.isDue = true;
    clearTimeout(timer);
    timer = undefined;
  }

  function flush(): void {
    const last = waiting.at(-1);
    if (last !== undefined) makeDue(last);
    start();
  }

  function flushSoon(): void {
    if (lingerMs === undefined) {
      if (isStartScheduled) return;
      isStartScheduled = true;
      queueMicrotask(() => {
        isStartScheduled = false;
        flush();
      });
    } else if (timer === undefined) {
      timer = setTimeout(flush, lingerMs);
      if (!keepsProcessAlive) timer.unref();
    }
  }

  function start(): void {
    while (inFlight.size < maxInFlight && waiting[0]?.isDue) {
      const { entries } = waiting.shift() as Batch<Item, Result>;
      waitingItems -= entries.length;
      itemsInFlight += entries.length;
      const running = runBatch(entries).then((settle) => {
        inFlight.delete(running);
        itemsInFlight -= entries.length;
        start();
        settle();
      });
      inFlight.add(running);
    }
  }

  /** Resolves with what passes the results on, so that the next batch starts first. */
  async function runBatch(entries: readonly Entry<Item, Result>[]): Promise<() => void> {
    try {
      const results = await run(entries.map(({ item }) => item));
      return () => {
        for (const [index, { resolve }] of entries.entries()) resolve(results[index] as Result);
      };
    } catch (error) {
      return () => {
        for (const { reject } of entries) reject(error);
      };
    }
  }

  function dropOldest(result: Result): void {
    const [oldest] = waiting;
    oldest?.entries.shift()?.resolve(result);
    waitingItems--;
    if (oldest?.entries.length === 0) waiting.shift();
  }

  return {
    add: (item, bytes = 0) =>
      new Promise((resolve, reject) => {
        const batch = openBatch(bytes);
        batch.entries.push({ item, resolve, reject });
        batch.bytes += bytes;
        waitingItems++;
        if (overflow !== undefined && waitingItems > overflow.maxWaiting) dropOldest(overflow.result);
        if (batch.entries.length >= maxItems) makeDue(batch);
        if (!batch.isDue) flushSoon();
        start();
      }),
    flush,
    drain: async () => {
      flush();
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
    get size() {
      return waitingItems + itemsInFlight;
    },
  };
}
