import { fieldOf, textOf } from './guarded-read.ts';

/** Also what became of a request whose session was never connected: the cause says why. */
const STREAM_CANCEL = 'ERR_HTTP2_STREAM_CANCEL';

/**
 * What never came to an HTTP answer, by what a gateway in between would have answered: 503 nobody is there, 502 the
 * connection broke, 504 it took too long. `ENOTFOUND` is left out: a name that nobody knows is most often a mistake, and
 * somebody should see it now rather than after 36 hours.
 */
const STATUS_BY_CODE: ReadonlyMap<string, number> = new Map([
  ['ECONNREFUSED', 503],
  ['EHOSTUNREACH', 503],
  ['ENETUNREACH', 503],
  ['EAI_AGAIN', 503],
  ['ECONNRESET', 502],
  ['ECONNABORTED', 502],
  ['EPIPE', 502],
  // What node-fetch, and with it Google's clients, makes of an answer that breaks off.
  ['ERR_STREAM_PREMATURE_CLOSE', 502],
  ['ETIMEDOUT', 504],
  ['ESOCKETTIMEDOUT', 504],
  // gaxios writes the name of what ended the call here.
  ['TimeoutError', 504],
  ['UND_ERR_SOCKET', 502],
  ['UND_ERR_PRX_CONN', 502],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 502],
  ['UND_ERR_CONNECT_TIMEOUT', 504],
  ['UND_ERR_HEADERS_TIMEOUT', 504],
  ['UND_ERR_BODY_TIMEOUT', 504],
  // Node's HTTP/2, on which gRPC stands: those of its errors that a lost session brings. The others are mistakes of use.
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
  // An AbortSignal.timeout, and the AWS SDK's own.
  return textOf(error, 'name') === 'TimeoutError' ? 504 : undefined;
}
