import { AWS_THROTTLING_CODES } from '../core/policy/aws-throttling.ts';
import { grpcStatusIn } from './grpc-status.ts';
import { fieldOf, textOf } from './guarded-read.ts';
import { networkStatusIn } from './network-status.ts';

/** Transient errors that AWS answers with status 400. */
const STATUS_BY_AWS_NAME: ReadonlyMap<string, number> = new Map([
  ...AWS_THROTTLING_CODES.map((name) => [name, 429] as const),
  ['RequestTimeout', 504],
  ['RequestTimeoutException', 504],
]);

/** Where clients store the status: ours, fetch, axios, got, undici, the AWS SDK, Google's clients. */
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

/** The HTTP status of one error, without its causes. Undefined if it has none. */
export function httpStatusOf(error: unknown): number | undefined {
  return awsStatusIn(error) ?? plainStatusIn(error) ?? grpcStatusIn(error) ?? networkStatusIn(error);
}

function awsStatusIn(error: unknown): number | undefined {
  if (fieldOf(error, '$retryable', 'throttling') === true) return 429;
  const name = textOf(error, 'name') ?? '';
  // Version 2 of the AWS SDK has the name in `code`.
  return STATUS_BY_AWS_NAME.get(name) ?? STATUS_BY_AWS_NAME.get(textOf(error, 'code') ?? '');
}

function plainStatusIn(error: unknown): number | undefined {
  for (const place of PLACES) {
    const status = errorStatusFrom(fieldOf(error, ...place));
    if (status !== undefined) return status;
  }
  return undefined;
}

/** Google's clients also write the status as text. A status below 400 is ignored, because a cause may have a better one. */
function errorStatusFrom(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return Number.isInteger(number) && (number as number) >= 400 && (number as number) <= 599
    ? (number as number)
    : undefined;
}
