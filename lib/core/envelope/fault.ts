import { headWithinUtf8, tailWithinUtf8, utf8Bytes } from '../text/utf8.ts';
import type { StatusError } from './envelope.ts';

/** What went wrong at a runtime, as rules see it: a type, its ancestors, and perhaps an HTTP status. */
export interface Fault {
  readonly type: string;
  readonly mro: readonly string[];
  readonly message: string;
  readonly traceback: string;
  readonly httpStatus?: number;
  /** As the runtime said it: seconds, RFC 3339 or an HTTP date. */
  readonly retryAfter?: unknown;
}

export function faultOf(type: string, message: string, mro: readonly string[] = []): Fault {
  return { type, mro, message, traceback: '' };
}

/** No answer within the actor's timeout. */
export function actorTimeoutFault(timeoutMs: number): Fault {
  return faultOf('ActorTimeout', `no answer within ${timeoutMs} ms`, ['TimeoutError', 'Exception']);
}

export const CONNECTION_ERROR = 'RuntimeConnectionError';

/** The runtime could not be reached, was lost during the call, or answered what nobody can read. */
export function connectionFault(detail: string): Fault {
  return faultOf(CONNECTION_ERROR, detail, ['ConnectionError', 'Exception']);
}

export const MAX_TRACEBACK_BYTES = 8 * 1024;
const CUT = '\n... cut ...\n';

/** Head and tail say the most: where it began and what was raised. */
export function capTraceback(traceback: string, mostBytes = MAX_TRACEBACK_BYTES): string {
  if (traceback.length * 3 <= mostBytes) return traceback;
  if (utf8Bytes(traceback) <= mostBytes) return traceback;
  const half = (mostBytes - CUT.length) / 2;
  return headWithinUtf8(traceback, Math.floor(half)) + CUT + tailWithinUtf8(traceback, Math.floor(half));
}

/** As it travels in `status.error`. */
export function statusErrorFromFault(fault: Fault): StatusError {
  const { type, mro, message, traceback } = fault;
  return { type, mro, message, traceback: capTraceback(traceback) };
}
