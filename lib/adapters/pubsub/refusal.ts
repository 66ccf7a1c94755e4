import { errorText } from '../../core/text/error-text.ts';
import { ACCEPTED, type Refusal, type Reply } from '../../ports/reply.ts';

/** gRPC status codes. */
const CANCELLED = 1;
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const PERMISSION_DENIED = 7;
const RESOURCE_EXHAUSTED = 8;
const ABORTED = 10;
const INTERNAL = 13;
const UNAVAILABLE = 14;

/** A stream may end with any of these without a failure: the service ends every stream after a while. */
const TRANSIENT = [CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE];

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
  return error === undefined || TRANSIENT.includes(codeOf(error) as number);
}

export function refusalOf(error: unknown, queue: string): Refusal {
  if (isNotFound(error)) return missingQueue(queue);
  return { ok: false, problem: `${problemText(error)} (queue "${queue}")` };
}

/** The client's message lists every failed attempt. The last one is enough. */
const GAVE_UP = /retrying error Error: (.*?)\s+(?:Resolution note:.*?)?before any response was received/s;
/** An empty section of the client's message. */
const EMPTY_NOTE = /\s*Resolution note:\s*$/;

function problemText(error: unknown): string {
  const text = errorText(error);
  const [, last] = GAVE_UP.exec(text) ?? [];
  return last === undefined ? text.replace(EMPTY_NOTE, '') : `${last}; gave up after several attempts`;
}

export function missingQueue(queue: string, why = ''): Refusal {
  return { ok: false, problem: `queue "${queue}" does not exist${why}`, isQueueMissing: true };
}

/** Accepted if the action succeeds. */
export async function replyOf(action: Promise<unknown>, queue: string): Promise<Reply> {
  try {
    await action;
    return ACCEPTED;
  } catch (error) {
    return refusalOf(error, queue);
  }
}
