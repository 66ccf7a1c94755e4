import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type RuntimeProcess, waitFor, within } from './runtime-process.ts';

/** One kept connection of the framed socket, as the sidecar holds it. */
export interface FramedConnection {
  readonly socket: Socket;
  /** Sends a text as one frame. */
  readonly send: (text: string) => void;
  /** The next frame that comes, or undefined where the other side closed. */
  readonly receive: () => Promise<string | undefined>;
  /** One call: JSON there, JSON back. */
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
  let chunks: Buffer[] = [];
  let size = 0;
  let isClosed = false;
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
  });
  socket.on('error', () => {});
  socket.on('close', () => (isClosed = true));
  await within(
    new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    }),
    `a connection to ${path}`,
  );
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
      if (text === undefined) throw new Error('the runtime closed the connection instead of an answer');
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

export interface HttpAsk {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

/** Over TCP or the Unix socket, whichever the runtime listens at. */
export function ask(runtime: RuntimeProcess, asked: HttpAsk = {}): Promise<HttpAnswer> {
  const { method = 'POST', path = '/invoke', body, headers = {}, agent } = asked;
  const place =
    runtime.port > 0 ? { host: '127.0.0.1', port: runtime.port } : { socketPath: runtime.socketPath };
  const answer = new Promise<HttpAnswer>((resolve, reject) => {
    const sent = request({ ...place, method, path, headers, ...(agent ? { agent } : {}) }, (response) => {
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

export function keepingAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}
