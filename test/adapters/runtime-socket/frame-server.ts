import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A server on a Unix socket whose every byte is the test's own. */
export interface FrameServer {
  readonly path: string;
  /** How many connections it has accepted. */
  accepted(): number;
  /** How many of them are still open. */
  open(): number;
  /** The requests' texts, in the order they came. */
  readonly requests: string[];
  close(): Promise<void>;
}

export type Behaviour = (
  socket: Socket,
  request: string,
  nth: { connection: number; request: number },
) => void;

/** Calls the behaviour with each whole frame that comes; `greet` with each connection. */
export async function startFrameServer(
  behave: Behaviour,
  greet: (socket: Socket, connection: number) => void = () => {},
): Promise<FrameServer> {
  const folder = await mkdtemp(join(tmpdir(), 'asya-frames-'));
  const path = join(folder, 'runtime.sock');
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  let accepted = 0;
  const server = createServer((socket) => {
    const connection = accepted++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    greet(socket, connection);
    let received = Buffer.alloc(0);
    let count = 0;
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) {
        const end = 4 + received.readUInt32BE(0);
        const request = received.toString('utf8', 4, end);
        received = received.subarray(end);
        requests.push(request);
        behave(socket, request, { connection, request: count++ });
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve());
  });
  return {
    path,
    accepted: () => accepted,
    open: () => sockets.size,
    requests,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function frameOf(text: string | Buffer): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length, 0);
  return Buffer.concat([header, body]);
}

/** A header that promises so many bytes. */
export function promiseOf(bytes: number): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes, 0);
  return header;
}
