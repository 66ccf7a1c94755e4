import type { Limits } from '../../core/delivery/actor.ts';

/** What SQS takes in one message: for whoever has to know it without talking to SQS. */
export const SQS_LIMITS: Limits = { maxDelayMs: 900_000, maxBodyBytes: 1024 * 1024 };

/** Entries of one request, whichever way it goes. */
export const SQS_MAX_BATCH = 10;

/** SQS counts delays in whole seconds: never sooner than asked for. */
export function delaySecondsFrom(delayMs: number): number {
  return Math.ceil(delayMs / 1000);
}
