import type { Envelope } from '../envelope/envelope.ts';
import { EVENT_TIME, headerText } from '../envelope/headers.ts';
import { instantMs } from '../text/timestamp.ts';
import type { Policy } from './policy.ts';

/** Where the attempts, this actor's time or the envelope's life ran out. */
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

/** More than that long ago; never, where no limit is set. */
export function hasElapsed(limitMs: number | undefined, sinceMs: number, now: number): boolean {
  return limitMs !== undefined && now - sinceMs > limitMs;
}

/** When the event happened that the envelope tells of; without a readable header, when this actor took it on. */
export function eventTimeMs(envelope: Envelope, createdAtMs: number): number {
  return instantMs(headerText(envelope.headers, EVENT_TIME)) ?? createdAtMs;
}
