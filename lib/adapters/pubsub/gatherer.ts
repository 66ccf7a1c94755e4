import type { Reply } from '../../ports/reply.ts';

/** Things of one kind that leave together: while a request is under way, what comes is gathered for the next. */
export interface Gatherer<Item> {
  /** The reply that its request got. */
  add(item: Item): Promise<Reply>;
  /** Resolves when nothing is under way any more. */
  drain(): Promise<void>;
}

export interface GathererOptions<Item> {
  /** In one request. */
  readonly most: number;
  /** Never rejects. */
  readonly request: (items: readonly Item[]) => Promise<Reply>;
}

/** No timer and no waiting: a single one leaves at once, and the more there are the more go in one request. */
export function gatherer<Item>({ most, request }: GathererOptions<Item>): Gatherer<Item> {
  let gathered: { readonly item: Item; readonly resolve: (reply: Reply) => void }[] = [];
  let underWay: Promise<void> | undefined;

  async function sendAll(): Promise<void> {
    // What is added in the same turn of the event loop goes along.
    await undefined;
    while (gathered.length > 0) {
      const batch = gathered.slice(0, most);
      gathered = gathered.slice(most);
      const reply = await request(batch.map(({ item }) => item));
      for (const { resolve } of batch) resolve(reply);
    }
    underWay = undefined;
  }

  return {
    add: (item) =>
      new Promise((resolve) => {
        gathered.push({ item, resolve });
        underWay ??= sendAll();
      }),
    drain: async () => {
      while (underWay !== undefined) await underWay;
    },
  };
}
