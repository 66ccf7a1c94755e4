import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type RuntimeProcess, waitFor, within } from './runtime-process.ts';

/** A connection in the socket protocol, kept open as the sidecar does. */
export interface FramedConnection {
  readonly socket: Socket;
  /** Sends the text as one frame. */
  readonly send: (text: string) => void;
  /** The next frame; undefined if the other side closed the connection. */
  readonly receive: () => Promise<string | undefined>;
  /** Sends the payload as JSON and parses the answer. */
  readonly call: (payload: unknown) => Promise<unknown>;
}

export function frameOf(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

export async function connectTo(path: string): Promise<FramedConnection> {
  const socket = connect(path);
  const connection = framesOver(socket);
  await within(
    new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    }),
    `a connection to ${path}`,
  );
  return connection;
}

/** Frames over a connected socket. */
export function framesOver(socket: Socket): FramedConnection {
  let chunks: Buffer[] = [];
  let size = 0;
  let isClosed = false;
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
  });
  socket.on('error', () => {});
  socket.on('close', () => (isClosed = true));
  const frameEnd = (): number => {
    if (size < 4) return 4;
    if ((chunks[0]?.length ?? 0) < 4) chunks = [Buffer.concat(chunks)];
    return 4 + (chunks[0]?.readUInt32BE() ?? 0);
  };
  const hasFrame = (): boolean => size >= 4 && size >= frameEnd();
  const receive = async (): Promise<string | undefined> => {
    await waitFor(() => hasFrame() || isClosed, 'a frame');
    if (!hasFrame()) return undefined;
    const [all, end] = [Buffer.concat(chunks), frameEnd()];
    chunks = [all.subarray(end)];
    size -= end;
    return all.toString('utf8', 4, end);
  };
  const send = (text: string): void => void socket.write(frameOf(text));
  return {
    socket,
    send,
    receive,
    call: async (payload) => {
      send(JSON.stringify(payload));
      const text = await receive();
      if (text === undefined) throw new Error('the runtime closed the connection without an answer');
      return JSON.parse(text);
    },
  };
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
  readonly localPort: number | undefined;
}

export interface HttpRequest {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

/** Sends a request over TCP or the Unix socket, depending on where the runtime listens. */
export function ask(runtime: RuntimeProcess, options: HttpRequest = {}): Promise<HttpAnswer> {
  const { method = 'POST', path = '/invoke', body, headers = {}, agent } = options;
  const address =
    runtime.port > 0 ? { host: '127.0.0.1', port: runtime.port } : { socketPath: runtime.socketPath };
  const answer = new Promise<HttpAnswer>((resolve, reject) => {
    const sent = request({ ...address, method, path, headers, ...(agent ? { agent } : {}) }, (response) => {
      const localPort = response.socket.localPort;
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, localPort }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
  return within(answer, `an answer to ${method} ${path}`, 60_000);
}

export function keepAliveAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}
