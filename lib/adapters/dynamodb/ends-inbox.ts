import { type Partition, SHARDS } from './shards.ts';

/** The value of `inbox` in one partition of the end records. Earlier versions used the first eight of them. */
function endsInbox(shard: number): string {
  return `ends-${shard}`;
}

export const ENDS_PARTITIONS: readonly Partition[] = Array.from({ length: SHARDS }, (_, shard) => ({
  value: endsInbox(shard),
}));

/** The partition of a record. Its identity is a hash, so that the partitions are equally full. */
export function inboxOf(identity: string): string {
  const digits = Number.parseInt(identity.slice(0, 2), 16);
  return endsInbox(Number.isNaN(digits) ? 0 : digits % SHARDS);
}
