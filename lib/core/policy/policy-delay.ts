import { MAX_DURATION_MS } from '../text/duration.ts';
import { instantMs, instantMsFromHttpDate } from '../text/timestamp.ts';
import type { Backoff, Policy } from './policy.ts';

/** The delay before the next attempt. */

const JITTER = 0.1;

/**
 * The delay after an attempt (counted from 1), in whole milliseconds: the backoff, limited by `maxIntervalMs`, plus
 * jitter. `random` is at least 0 and less than 1.
 */
export function delayAfterAttempt(policy: Policy, attempt: number, random: number): number {
  const capped = Math.min(backoffMs(policy.backoff, attempt), policy.maxIntervalMs ?? MAX_DURATION_MS);
  return Math.round(policy.jitter ? capped + random * JITTER * capped : capped);
}

function backoffMs(backoff: Backoff, attempt: number): number {
  switch (backoff.kind) {
    case 'constant':
      return backoff.initialMs;
    case 'linear':
      return attempt * backoff.initialMs;
    case 'exponential':
      // `2 ** 1024` is Infinity, and `0 * Infinity` is NaN.
      return backoff.initialMs === 0 ? 0 : backoff.initialMs * 2 ** (attempt - 1);
    case 'schedule':
      return backoff.delaysMs[Math.min(attempt, backoff.delaysMs.length) - 1] ?? 0;
  }
}

/** The longer of the policy's delay and the one that the runtime requested. `maxIntervalMs` limits both. */
export function delayWithRetryAfter(
  policy: Policy,
  delayMs: number,
  retryAfter: unknown,
  now: number,
): number {
  const requestedMs = retryAfterMs(retryAfter, now);
  if (requestedMs === undefined) return delayMs;
  return Math.max(delayMs, Math.min(requestedMs, policy.maxIntervalMs ?? MAX_DURATION_MS));
}

/** Converts seconds, an RFC 3339 timestamp or an HTTP date to milliseconds from now. Undefined if invalid or negative. */
export function retryAfterMs(value: unknown, now: number): number | undefined {
  const milliseconds = typeof value === 'string' ? millisecondsFromText(value, now) : secondsToMs(value);
  return milliseconds === undefined || !(milliseconds >= 0) ? undefined : milliseconds;
}

function millisecondsFromText(text: string, now: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return secondsToMs(Number(text));
  const at = instantMs(text) ?? instantMsFromHttpDate(text);
  return at === undefined ? undefined : at - now;
}

function secondsToMs(value: unknown): number | undefined {
  return typeof value === 'number' ? Math.round(value * 1000) : undefined;
}
