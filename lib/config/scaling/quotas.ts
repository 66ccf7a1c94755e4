/**
 * The quotas of AWS that a mesh can reach, as documented in 2026. Quotas marked as adjustable are defaults: AWS raises
 * them on request, per account and region.
 */

/** An SQS event source: how many invocations it runs at the same time. */
export const EVENT_SOURCE = {
  /** Right after the first messages. */
  start: 5,
  /** Added while messages are waiting. */
  addedPerMinute: 300,
  /** The largest value of `maximumConcurrency`, which every event source of a mesh sets. */
  max: 1_000,
} as const;

/** Concurrent executions of all functions of an account and region. Adjustable. */
export const ACCOUNT_CONCURRENCY = 1_000;
/** Synchronous invocations per second for each concurrent execution that is allowed. */
export const INVOCATIONS_PER_EXECUTION = 10;

/** Messages of a standard queue that were received and not deleted yet. */
export const IN_FLIGHT_MESSAGES = 120_000;
/** Messages per request. */
export const SQS_BATCH = 10;
/** Bytes of a request with all its messages. */
export const SQS_REQUEST_BYTES = 1_048_576;
/** SQS bills each part of this size as a request. */
export const SQS_BILLED_BYTES = 65_536;

/** DynamoDB, on demand. A write unit is 1 KB, a read unit 4 KB. */
export const DYNAMODB = {
  /** Write units per second of one partition of a table or an index. */
  partitionWrites: 1_000,
  /** Write units per second of a new table and of each of its indexes. Doubles about every 30 minutes under load. */
  newTableWrites: 4_000,
  /** Write units per second of a table and of each of its indexes. Adjustable. */
  tableWrites: 40_000,
} as const;

/** PUT requests per second for each prefix of a bucket. S3 splits busy prefixes gradually. */
export const S3_PREFIX_PUTS = 3_500;
