import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';

/** A piece of network between a client and a server of this machine, for what networks do. */
export interface TcpProxy {
  readonly port: number;
  /** How many connections pass through it now. */
  readonly connections: number;
  /** Cuts every connection, without a farewell to either side. */
  reset(): void;
  /** New connections are cut at once. */
  refuse(): void;
  /**
   * Half open: from now on nothing passes, on new connections neither, and no side is told. What was sent meanwhile
   * is lost, so that a connection that was open now stays so for good.
   */
  freeze(): void;
  /** New connections pass again. */
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
      // Across a cut network nobody hears of the other's end.
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
