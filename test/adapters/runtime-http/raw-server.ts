import type { Socket } from 'node:net';
import { type ByteServer, startByteServer } from '../../support/byte-server.ts';

/** An HTTP server for which the test writes every byte. */
export interface RawServer extends Pick<ByteServer, 'accepted' | 'open' | 'close'> {
  readonly url: string;
  readonly socketPath?: string;
  readonly requests: RawRequest[];
}

interface RawRequest {
  /** `POST /invoke` */
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly connection: number;
}

export type Behaviour = (socket: Socket, request: RawRequest) => void;

export async function startRawServer(behave: Behaviour, over: 'tcp' | 'unix' = 'tcp'): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const { path, port, ...server } = await startByteServer(over, (socket, connection) => {
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      for (let taken = takeRequest(received, connection); taken !== undefined; ) {
        received = received.subarray(taken.bytes);
        requests.push(taken.request);
        behave(socket, taken.request);
        taken = takeRequest(received, connection);
      }
    });
  });
  return {
    ...server,
    requests,
    ...(over === 'unix'
      ? { url: 'http://localhost/invoke', socketPath: path }
      : { url: `http://127.0.0.1:${port}/invoke` }),
  };
}

function takeRequest(
  received: Buffer,
  connection: number,
): { readonly request: RawRequest; readonly bytes: number } | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [line = '', ...fields] = received.toString('latin1', 0, end).split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const bytes = end + 4 + Number(headers['content-length'] ?? 0);
  if (received.length < bytes) return undefined;
  const body = received.toString('utf8', end + 4, bytes);
  return { request: { line: line.replace(/ HTTP\/1\.1$/, ''), headers, body, connection }, bytes };
}

/** A complete response with its Content-Length. */
export function responseOf(
  status: number,
  body: string | Buffer = '',
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const bytes = Buffer.from(body);
  const all = { 'content-length': String(bytes.length), ...headers };
  const fields = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Whatever\r\n${fields.join('')}\r\n`), bytes]);
}

export function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

export const LAST_CHUNK = '0\r\n\r\n';
export const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n';

/** Server-sent events, each with its name. */
export function eventsOf(...events: readonly (readonly [name: string, data: unknown])[]): string {
  return events
    .map(
      ([name, data]) => `event: ${name}\ndata: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
    )
    .join('');
}
