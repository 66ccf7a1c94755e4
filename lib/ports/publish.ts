/** A message as it is published: the data as it came, and attributes beside it. */
export interface PublishedMessage<Data> {
  readonly data: Data;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Publishes to a topic. Fulfilled: the broker has it, durably. Rejected, thrown or fulfilled with a `Refusal`: it has
 * not, and what waits for it must not be acked.
 */
export type Publish<Data> = (topic: string, message: PublishedMessage<Data>) => Promise<unknown>;
