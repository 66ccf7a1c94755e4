/**
 * The number of partitions of the end records in `by-time`. One partition accepts about 1,000 writes per second; a fuller
 * one would slow down x-sink. A reader queries all of them, so there are no more than necessary.
 */
export const END_SHARDS = 8;

/** The value of `inbox` in one partition. */
export function endsInbox(shard: number): string {
  return `ends-${shard}`;
}

/** The partition of a record. Its identity is a hash, so that the partitions are equally full. */
export function inboxOf(identity: string): string {
  const digits = Number.parseInt(identity.slice(0, 2), 16);
  return endsInbox(Number.isNaN(digits) ? 0 : digits % END_SHARDS);
}
