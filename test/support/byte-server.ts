import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A server for tests that control every byte of an answer. */
export interface ByteServer {
  /** The path of its Unix socket; unused with TCP. */
  readonly path: string;
  /** 0 with a Unix socket. */
  readonly port: number;
  /** How many connections it has accepted. */
  accepted(): number;
  /** How many of them are still open. */
  open(): number;
  close(): Promise<void>;
}

export async function startByteServer(
  over: 'tcp' | 'unix',
  onConnection: (socket: Socket, connection: number) => void,
): Promise<ByteServer> {
  const folder = await mkdtemp(join(tmpdir(), 'asya-bytes-'));
  const path = join(folder, 'runtime.sock');
  const sockets = new Set<Socket>();
  let accepted = 0;
  const server = createServer((socket) => {
    const connection = accepted++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    onConnection(socket, connection);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (over === 'unix') server.listen(path, () => resolve());
    else server.listen(0, '127.0.0.1', () => resolve());
  });
  return {
    path,
    port: over === 'unix' ? 0 : (server.address() as AddressInfo).port,
    accepted: () => accepted,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
