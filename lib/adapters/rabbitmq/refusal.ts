import { errorText } from '../../core/text/error-text.ts';
import type { Refusal } from '../../ports/reply.ts';

const NOT_FOUND = 404;
const ACCESS_REFUSED = 403;

export function missingQueue(queue: string): Refusal {
  return { ok: false, problem: `queue "${queue}" does not exist`, isQueueMissing: true };
}

export function refusalOf(error: unknown, queue: string): Refusal {
  return isNotFound(error)
    ? missingQueue(queue)
    : { ok: false, problem: `${messageOf(error)} (queue "${queue}")` };
}

/** By the AMQP reply code with which the broker closes the channel. */
export function isNotFound(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: unknown }).code === NOT_FOUND;
}

export function isAccessRefused(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: unknown }).code === ACCESS_REFUSED;
}

/** Connecting to a host with several addresses fails with an AggregateError, whose own message is empty. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return errorText(error);
}
