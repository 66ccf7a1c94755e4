import type { Envelope } from '../envelope/envelope.ts';
import { EVENT_TIME, headerText } from '../envelope/headers.ts';
import { instantMs } from '../text/timestamp.ts';
import type { Policy } from './policy.ts';

/** Whether no attempts are left, the actor's `maxDuration` has elapsed, or the envelope's event has expired. */
export function isExhausted(
  policy: Policy,
  attempt: number,
  createdAtMs: number,
  eventMs: number,
  now: number,
): boolean {
  return (
    attempt >= policy.maxAttempts ||
    hasElapsed(policy.maxDurationMs, createdAtMs, now) ||
    hasElapsed(policy.expireAfterMs, eventMs, now)
  );
}

/** Whether more than `limitMs` has elapsed. Without a limit: never. */
export function hasElapsed(limitMs: number | undefined, sinceMs: number, now: number): boolean {
  return limitMs !== undefined && now - sinceMs > limitMs;
}

/** When the envelope's event happened: the `event_time` header, or if it is absent or invalid, the first attempt here. */
export function eventTimeMs(envelope: Envelope, createdAtMs: number): number {
  return instantMs(headerText(envelope.headers, EVENT_TIME)) ?? createdAtMs;
}
