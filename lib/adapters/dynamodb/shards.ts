/**
 * How many partitions a list is spread over. One partition of an index accepts about 1,000 writes per second. A reader
 * queries all of them, so there are no more than necessary. It can be raised, but never lowered: items in the partitions
 * above would no longer be listed.
 */
export const SHARDS = 16;

/** Marks items whose lists are sharded. Items of earlier versions lack it: each of their lists is one partition. */
export const SHARD_MARK = 'shard';

/** The partition of an item, by the hash of its key (FNV-1a). The same key always has the same partition. */
export function shardOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  // The low bits of FNV-1a are the weakest.
  return ((hash ^ (hash >>> 15)) >>> 0) % SHARDS;
}

/** The name of one partition of a list. The number is first, because DynamoDB's limit may cut the end of a long name. */
export function shardName(list: string, shard: number): string {
  return `${shard}~${list}`;
}

/** A partition of an index, and which of its items belong to the list. */
export interface Partition {
  readonly value: string;
  /** Only items with this mark (true) or without it (false). Default: all items. */
  readonly isMarked?: boolean;
}

/**
 * All partitions of a list, including the one of earlier versions. The list may be named by a caller, as "3~x" or "x":
 * the mark tells the items of the first name from those in partition 3 of the second.
 */
export function partitionsOf(list: string): readonly Partition[] {
  const shards = Array.from({ length: SHARDS }, (_, shard) => ({
    value: shardName(list, shard),
    isMarked: true,
  }));
  return [...shards, { value: list, isMarked: false }];
}
