import { once } from 'node:events';
import { connect } from 'node:net';

/** A raw HTTP request, for headers that HTTP clients would add or reject. */
export interface RawRequest {
  /** @default GET */
  readonly method?: string;
  /** @default / */
  readonly target?: string;
  /** @default 1.1 */
  readonly version?: string;
  /** Sent unchanged; no `Host` is added. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

export interface RawAnswer {
  readonly status: number;
  /** The status line and the headers, in lower case. */
  readonly head: string;
  readonly text: string;
}

/** Sends one request to 127.0.0.1 on a new connection, and returns the answer. */
export async function rawAnswer(port: number, request: RawRequest): Promise<RawAnswer> {
  const { method = 'GET', target = '/', version = '1.1', headers, body = '' } = request;
  const fields = [...headers, ['Connection', 'close'], ['Content-Length', String(Buffer.byteLength(body))]];
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return answerTo(port, `${method} ${target} HTTP/${version}\r\n${head}\r\n${body}`);
}

/** Sends exactly these bytes (Latin-1). Resolves with the answer when the server has closed the connection. */
export async function answerTo(port: number, bytes: string): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (text) => {
    answer += text;
  });
  // A server that closes early may reset the connection; the answer received before that counts.
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  socket.write(bytes, 'latin1');
  await closed;
  const end = answer.indexOf('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]),
    head: answer.slice(0, end).toLowerCase(),
    text: answer.slice(end + 4),
  };
}
