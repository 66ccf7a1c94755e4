/** A message to publish: its data, unchanged, and its attributes. */
export interface PublishedMessage<Data> {
  readonly data: Data;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Publishes to a topic. If it resolves, the broker has stored the message durably. If it rejects, throws, or resolves
 * with a `Refusal`, the message was not published and the caller must not acknowledge its source.
 */
export type Publish<Data> = (topic: string, message: PublishedMessage<Data>) => Promise<unknown>;
