import { headWithinUtf8, tailWithinUtf8, utf8Bytes } from '../text/utf8.ts';
import type { StatusError } from './envelope.ts';

/** An error as rules match it: its type, its base types (`mro`) and possibly an HTTP status. */
export interface Fault {
  readonly type: string;
  readonly mro: readonly string[];
  readonly message: string;
  readonly traceback: string;
  readonly httpStatus?: number;
  /** The runtime's value, not validated: seconds, an RFC 3339 timestamp or an HTTP date. */
  readonly retryAfter?: unknown;
}

export function faultOf(type: string, message: string, mro: readonly string[] = []): Fault {
  return { type, mro, message, traceback: '' };
}

/** The runtime did not answer within the actor's timeout. */
export function actorTimeoutFault(timeoutMs: number): Fault {
  return faultOf('ActorTimeout', `no answer within ${timeoutMs} ms`, ['TimeoutError', 'Exception']);
}

export const CONNECTION_ERROR = 'RuntimeConnectionError';

/** The runtime could not be reached, the connection was lost during the call, or the answer was not readable. */
export function connectionFault(detail: string): Fault {
  return faultOf(CONNECTION_ERROR, detail, ['ConnectionError', 'Exception']);
}

export const MAX_TRACEBACK_BYTES = 8 * 1024;
const CUT = '\n... cut ...\n';

/** Limits a traceback. It keeps the head and the tail: the entry point and the raised error. */
export function capTraceback(traceback: string, maxBytes = MAX_TRACEBACK_BYTES): string {
  if (traceback.length * 3 <= maxBytes) return traceback;
  if (utf8Bytes(traceback) <= maxBytes) return traceback;
  const half = (maxBytes - CUT.length) / 2;
  return headWithinUtf8(traceback, Math.floor(half)) + CUT + tailWithinUtf8(traceback, Math.floor(half));
}

/** The error for `status.error`. */
export function statusErrorFromFault(fault: Fault): StatusError {
  const { type, mro, message, traceback } = fault;
  return { type, mro, message, traceback: capTraceback(traceback) };
}
