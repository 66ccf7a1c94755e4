import type { Duplex } from 'node:stream';
import { problemResponse, problemText } from './problem.ts';

/** The answer to a request that cannot be represented as a `Request` and therefore never reaches the app. */
export function invalidRequestResponse(): Response {
  return problemResponse({
    status: 400,
    detail: 'invalid request target or Host header',
  });
}

interface ErrorAnswer {
  readonly status: number;
  readonly detail: string;
}

const NOT_HTTP: ErrorAnswer = { status: 400, detail: 'not a valid HTTP request' };
const BY_CODE: Readonly<Record<string, ErrorAnswer>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'the request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'the request was not received in time' },
};

/** Handles a server's `clientError` event. If a response was already started on the connection, it is only closed. */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex & { bytesWritten?: number },
): void {
  if (!socket.writable || socket.bytesWritten !== 0) {
    socket.destroy();
    return;
  }
  const { status, detail } = BY_CODE[error.code ?? ''] ?? NOT_HTTP;
  const { title, body } = problemText({ status, detail });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
