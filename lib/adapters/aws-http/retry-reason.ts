import { AWS_THROTTLING_CODES } from '../../core/policy/aws-throttling.ts';

/** Why a request may succeed if it is sent again. */
export type RetryReason = 'throttled' | 'transient';

const THROTTLED = new Set(AWS_THROTTLING_CODES);
const TRANSIENT = new Set(['RequestTimeout', 'RequestTimeoutException', 'TimeoutError']);
const NETWORK = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** Undefined: the same request would fail again. */
export function retryReason(error: unknown): RetryReason | undefined {
  const { name = '', code = '', status = 0 } = error as { name?: string; code?: string; status?: number };
  if (status === 429 || THROTTLED.has(name)) return 'throttled';
  return status >= 500 || TRANSIENT.has(name) || NETWORK.has(code) ? 'transient' : undefined;
}

/** Maximum of the pause before the first retry. */
export const FIRST_PAUSE_MS: Readonly<Record<RetryReason, number>> = { throttled: 1_000, transient: 50 };
