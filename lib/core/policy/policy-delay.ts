import { MAX_DURATION_MS } from '../text/duration.ts';
import { instantMs, instantMsFromHttpDate } from '../text/timestamp.ts';
import type { Backoff, Policy } from './policy.ts';

const JITTER = 0.1;

/** The delay after attempt N, in whole milliseconds: the backoff, then the cap, then the jitter. */
export function delayAfterAttempt(policy: Policy, attempt: number, roll: number): number {
  const capped = Math.min(backoffMs(policy.backoff, attempt), policy.maxIntervalMs ?? MAX_DURATION_MS);
  return Math.round(policy.jitter ? capped + roll * JITTER * capped : capped);
}

function backoffMs(backoff: Backoff, attempt: number): number {
  switch (backoff.kind) {
    case 'constant':
      return backoff.initialMs;
    case 'linear':
      return attempt * backoff.initialMs;
    case 'exponential':
      // Nought times infinity is no number: after 1,024 doublings there would be one.
      return backoff.initialMs === 0 ? 0 : backoff.initialMs * 2 ** (attempt - 1);
    case 'schedule':
      return backoff.delaysMs[Math.min(attempt, backoff.delaysMs.length) - 1] ?? 0;
  }
}

/** The delay, where the runtime asked for a pause of its own. The policy's cap binds that wish too. */
export function delayWithRetryAfter(
  policy: Policy,
  delayMs: number,
  retryAfter: unknown,
  now: number,
): number {
  const wish = retryAfterMs(retryAfter, now);
  if (wish === undefined) return delayMs;
  return Math.max(delayMs, Math.min(wish, policy.maxIntervalMs ?? MAX_DURATION_MS));
}

/** Seconds, RFC 3339 or an HTTP date, as milliseconds from now; what is negative or unreadable is as none. */
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
