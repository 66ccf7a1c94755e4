import type { Duplex } from 'node:stream';
import { problemResponse, problemText } from './problem.ts';

/** What cannot be made a request of never reaches the application: it is answered here. */
export function invalidRequestResponse(): Response {
  return problemResponse({
    status: 400,
    detail: 'the request cannot be read: its address or Host is broken',
  });
}

interface ErrorAnswer {
  readonly status: number;
  readonly detail: string;
}

const NOT_HTTP: ErrorAnswer = { status: 400, detail: 'the request is no HTTP' };
const BY_CODE: Readonly<Record<string, ErrorAnswer>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'the headers are too long' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'the request did not come in time' },
};

/** For a server's `clientError`: a connection on which something was answered before is cut without a word. */
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
