import { errorText } from '../../core/text/error-text.ts';
import { ACCEPTED, type Refusal, type Reply } from '../../ports/reply.ts';

/** gRPC's numbers, as far as they count here. */
const CANCELLED = 1;
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const ABORTED = 10;
const INTERNAL = 13;
const UNAVAILABLE = 14;

/** Ends that a stream has in the course of things: the service itself ends every one after a while. */
const PASSING = [CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE];

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

export function isNotFound(error: unknown): boolean {
  return codeOf(error) === NOT_FOUND;
}

export function isAlreadyExists(error: unknown): boolean {
  return codeOf(error) === ALREADY_EXISTS;
}

export function isPermissionDenied(error: unknown): boolean {
  return codeOf(error) === PERMISSION_DENIED;
}

export function isTransient(error: unknown): boolean {
  return error === undefined || PASSING.includes(codeOf(error) as number);
}

export function refusalOf(error: unknown, queue: string): Refusal {
  if (isNotFound(error)) return missingQueue(queue);
  return { ok: false, problem: `${wordsOf(error)} (queue "${queue}")` };
}

/** The client tells every attempt that failed before it gave up; the last one says it. */
const GAVE_UP = /retrying error Error: (.*?)\s+(?:Resolution note:.*?)?before any response was received/s;
/** A heading of the client's under which it says nothing. */
const EMPTY_NOTE = /\s*Resolution note:\s*$/;

function wordsOf(error: unknown): string {
  const words = errorText(error);
  const [, last] = GAVE_UP.exec(words) ?? [];
  return last === undefined ? words.replace(EMPTY_NOTE, '') : `${last}; given up after trying again`;
}

export function missingQueue(queue: string, why = ''): Refusal {
  return { ok: false, problem: `there is no queue "${queue}"${why}`, isQueueMissing: true };
}

/** Accepted where it comes to an end. */
export async function replyOf(action: Promise<unknown>, queue: string): Promise<Reply> {
  try {
    await action;
    return ACCEPTED;
  } catch (error) {
    return refusalOf(error, queue);
  }
}
