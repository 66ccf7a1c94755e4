import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Passes bytes on between its clients and a server, and can be cut. */
export interface TcpProxy {
  /** `host:port` */
  readonly endpoint: string;
  /** Every connection breaks, and none is made, until the returned function is called. */
  cut(): () => void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Set<Socket>();
  let isCut = false;

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  }

  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect({ host, port: Number(port) });
    for (const socket of [client, upstream]) track(socket);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  function breakAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true;
      breakAll();
      return () => {
        isCut = false;
      };
    },
    close: async () => {
      breakAll();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
