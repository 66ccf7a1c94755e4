/** The single table of a mesh: ended envelopes, failures with their replays, and tasks. */
export interface TableShape {
  readonly key: Attribute;
  readonly indexes: readonly TableIndex[];
  /** Attribute with the time at which an item expires, in seconds since 1970. */
  readonly expiry: string;
}

export interface TableIndex {
  readonly name: string;
  readonly hash: Attribute;
  readonly range: Attribute;
}

export interface Attribute {
  readonly name: string;
  readonly type: 'S' | 'N';
}

const text = (name: string): Attribute => ({ name, type: 'S' });
const SEEN: Attribute = { name: 'seen_ms', type: 'N' };

/**
 * Only failures and records have `inbox`, only failures `fingerprint`, only records `replay`, only tasks `owner`: an
 * index holds what has its attributes.
 */
export const FAILURE_TABLE = {
  key: text('pk'),
  indexes: [
    { name: 'by-time', hash: text('inbox'), range: SEEN },
    { name: 'by-group', hash: text('fingerprint'), range: SEEN },
    { name: 'by-envelope', hash: text('envelope_key'), range: SEEN },
    { name: 'by-replay', hash: text('replay'), range: SEEN },
    { name: 'by-owner', hash: text('owner'), range: SEEN },
  ],
  expiry: 'expires_at',
} as const satisfies TableShape;

/**
 * How many partitions each list of an index is spread over. One partition accepts about 1,000 writes per second. A reader
 * queries all of them, so there are no more than necessary. It can be raised, but never lowered: items in the partitions
 * above would no longer be listed.
 */
export const LIST_SHARDS = 16;

/** Key prefix of failures, the only items that the crew changes in place. */
export const FAILURE_PREFIX = 'failure#';

/** Key prefix of tasks, the only items that reports change. */
export const TASK_PREFIX = 'task#';

/** Key prefix of idempotency keys. */
export const IDEMPOTENCY_PREFIX = 'idempotency#';

/** Key prefix of the lists of tasks that were canceled recently. */
export const CANCELLATIONS_PREFIX = 'canceled#';

export type FailureTableIndex = (typeof FAILURE_TABLE)['indexes'][number]['name'];
