import type { Limits } from '../../core/delivery/actor.ts';

/** Limits of one SQS message. In its own file, so that importing it does not load the SDK. */
export const SQS_LIMITS: Limits = { maxDelayMs: 900_000, maxBodyBytes: 1024 * 1024 };

/** Most entries of one send, receive, delete or visibility request. */
export const SQS_MAX_BATCH = 10;

/** SQS takes whole seconds. Rounds up, because a delay is a lower bound. */
export function delaySecondsFrom(delayMs: number): number {
  return Math.ceil(delayMs / 1000);
}
