import { once } from 'node:events';
import { connect } from 'node:net';

/** A request as it goes over the wire: clients add or refuse headers that matter here. */
export interface RawRequest {
  /** @default GET */
  readonly method?: string;
  /** @default / */
  readonly target?: string;
  /** @default 1.1 */
  readonly version?: string;
  /** As they are: no `Host` is added. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
}

export interface RawAnswer {
  readonly status: number;
  /** The status line and the headers, in lower case. */
  readonly head: string;
  readonly text: string;
}

/** The answer to one request at 127.0.0.1, on a connection of its own that ends after it. */
export async function rawAnswer(port: number, request: RawRequest): Promise<RawAnswer> {
  const { method = 'GET', target = '/', version = '1.1', headers, body = '' } = request;
  const fields = [...headers, ['Connection', 'close'], ['Content-Length', String(Buffer.byteLength(body))]];
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return answerTo(port, `${method} ${target} HTTP/${version}\r\n${head}\r\n${body}`);
}

/** The answer to exactly these bytes (Latin-1). Resolves when the server has closed the connection. */
export async function answerTo(port: number, bytes: string): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (text) => {
    answer += text;
  });
  // What counts is what came before: a server that closes early may reset the connection.
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
