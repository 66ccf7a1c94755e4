import { fieldOf, textOf } from './guarded-read.ts';

/** Also reported for a request whose session never connected. Then the cause has the reason. */
const STREAM_CANCEL = 'ERR_HTTP2_STREAM_CANCEL';

/**
 * Errors without an HTTP answer, mapped to the status that a gateway would return: 503 not reachable, 502 connection
 * lost, 504 timeout. `ENOTFOUND` is not included: an unknown host name is usually a configuration mistake, and should be
 * escalated at once instead of after 36 hours.
 */
const STATUS_BY_CODE: ReadonlyMap<string, number> = new Map([
  ['ECONNREFUSED', 503],
  ['EHOSTUNREACH', 503],
  ['ENETUNREACH', 503],
  ['EAI_AGAIN', 503],
  ['ECONNRESET', 502],
  ['ECONNABORTED', 502],
  ['EPIPE', 502],
  // node-fetch, used by Google's clients: the response ended too early.
  ['ERR_STREAM_PREMATURE_CLOSE', 502],
  ['ETIMEDOUT', 504],
  ['ESOCKETTIMEDOUT', 504],
  // gaxios puts the error's name here.
  ['TimeoutError', 504],
  ['UND_ERR_SOCKET', 502],
  ['UND_ERR_PRX_CONN', 502],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 502],
  ['UND_ERR_CONNECT_TIMEOUT', 504],
  ['UND_ERR_HEADERS_TIMEOUT', 504],
  ['UND_ERR_BODY_TIMEOUT', 504],
  // Node's HTTP/2, used by gRPC: the errors of a lost session. The others are programming errors.
  ['ERR_HTTP2_GOAWAY_SESSION', 502],
  ['ERR_HTTP2_INVALID_SESSION', 502],
  ['ERR_HTTP2_INVALID_STREAM', 502],
  ['ERR_HTTP2_OUT_OF_STREAMS', 502],
  ['ERR_HTTP2_PING_CANCEL', 502],
  ['ERR_HTTP2_SESSION_ERROR', 502],
  ['ERR_HTTP2_SETTINGS_CANCEL', 502],
  ['ERR_HTTP2_SOCKET_UNBOUND', 502],
  [STREAM_CANCEL, 502],
  ['ERR_HTTP2_STREAM_ERROR', 502],
  ['ERR_HTTP2_TOO_MANY_INVALID_FRAMES', 502],
]);

export function networkStatusIn(error: unknown): number | undefined {
  const code = textOf(error, 'code') ?? '';
  if (code === STREAM_CANCEL && fieldOf(error, 'cause') !== undefined) return undefined;
  const status = STATUS_BY_CODE.get(code);
  if (status !== undefined) return status;
  // AbortSignal.timeout() and the AWS SDK.
  return textOf(error, 'name') === 'TimeoutError' ? 504 : undefined;
}
