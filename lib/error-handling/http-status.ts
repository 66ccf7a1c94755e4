import { grpcStatusIn } from './grpc-status.ts';
import { fieldOf, textOf } from './guarded-read.ts';
import { networkStatusIn } from './network-status.ts';

/** AWS answers 400 to these, and they pass by themselves all the same. */
const STATUS_BY_AWS_NAME: ReadonlyMap<string, number> = new Map([
  ...[
    'BandwidthLimitExceeded',
    'EC2ThrottledException',
    'LimitExceededException',
    'PriorRequestNotComplete',
    'ProvisionedThroughputExceededException',
    'RequestLimitExceeded',
    'RequestThrottled',
    'RequestThrottledException',
    'SlowDown',
    'ThrottledException',
    'Throttling',
    'ThrottlingException',
    'TooManyRequestsException',
    'TransactionInProgressException',
  ].map((name) => [name, 429] as const),
  ['RequestTimeout', 504],
  ['RequestTimeoutException', 504],
]);

/** Where clients keep the status: our own, fetch and axios, got and undici, the AWS SDK, Google's clients. */
const PLACES = [
  ['httpStatus'],
  ['http_status'],
  ['status'],
  ['statusCode'],
  ['status_code'],
  ['response', 'status'],
  ['response', 'statusCode'],
  ['$metadata', 'httpStatusCode'],
  ['code'],
] as const;

/** The HTTP status that one error tells of, its causes left aside; undefined where it tells of none. */
export function httpStatusOf(error: unknown): number | undefined {
  return awsStatusIn(error) ?? plainStatusIn(error) ?? grpcStatusIn(error) ?? networkStatusIn(error);
}

function awsStatusIn(error: unknown): number | undefined {
  if (fieldOf(error, '$retryable', 'throttling') === true) return 429;
  const name = textOf(error, 'name') ?? '';
  // The AWS SDK before its third version had the name in `code`.
  return STATUS_BY_AWS_NAME.get(name) ?? STATUS_BY_AWS_NAME.get(textOf(error, 'code') ?? '');
}

function plainStatusIn(error: unknown): number | undefined {
  for (const place of PLACES) {
    const status = errorStatusFrom(fieldOf(error, ...place));
    if (status !== undefined) return status;
  }
  return undefined;
}

/** Google's clients also write it as text. Below 400 it is no error's, and a cause may know better. */
function errorStatusFrom(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return Number.isInteger(number) && (number as number) >= 400 && (number as number) <= 599
    ? (number as number)
    : undefined;
}
