import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';

/** A proxy between a client and a server on this machine that simulates network failures. */
export interface TcpProxy {
  readonly port: number;
  /** The number of open connections. */
  readonly connections: number;
  /** Resets every connection on both sides. */
  reset(): void;
  /** Resets new connections at once. */
  refuse(): void;
  /**
   * Half-open connections: from now on the proxy discards all data, also on new connections, and neither side notices.
   * A connection that was open at this time never recovers.
   */
  freeze(): void;
  /** Forwards new connections again. */
  resume(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  isFrozen: boolean;
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let mode: 'open' | 'refusing' | 'frozen' = 'open';

  const listener = createServer((client) => {
    client.on('error', () => {});
    if (mode === 'refusing') {
      client.resetAndDestroy();
      return;
    }
    const server = connect(target, '127.0.0.1');
    const pair: Pair = { client, server, isFrozen: mode === 'frozen' };
    pairs.add(pair);
    pass(client, server, pair);
    pass(server, client, pair);
  });

  function pass(from: Socket, to: Socket, pair: Pair): void {
    from.on('data', (bytes) => {
      if (pair.isFrozen || to.write(bytes)) return;
      from.pause();
      to.once('drain', () => from.resume());
    });
    from.on('error', () => {});
    from.on('close', () => {
      if (from.closed && to.closed) pairs.delete(pair);
      // In a frozen network, neither side learns that the other has closed.
      if (!pair.isFrozen) cut(to);
    });
  }

  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const reset = () => {
    for (const { client, server } of pairs) {
      cut(client);
      cut(server);
    }
  };
  return {
    port: (listener.address() as AddressInfo).port,
    get connections() {
      return pairs.size;
    },
    reset,
    refuse: () => {
      mode = 'refusing';
    },
    freeze: () => {
      mode = 'frozen';
      for (const pair of pairs) pair.isFrozen = true;
    },
    resume: () => {
      mode = 'open';
    },
    close: async () => {
      mode = 'refusing';
      reset();
      await promisify(listener.close.bind(listener))();
    },
  };
}

function cut(socket: Socket): void {
  if (!socket.destroyed) socket.resetAndDestroy();
}
