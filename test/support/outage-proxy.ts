import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../sidecar/free-port.ts';

/** A TCP proxy in front of an engine that simulates outages: the engine disappears and comes back with its data. */
export interface OutageProxy {
  readonly endpoint: string;
  /** Refuses new connections and closes the open ones. */
  goDown(): Promise<void>;
  /** Accepts connections and requests, but never answers. */
  hang(): Promise<void>;
  recover(): Promise<void>;
  /** The text of the latest requests, at most 200 KB. */
  received(): string;
  /** How many connections were made. */
  connections(): number;
}

const MAX_RECEIVED = 200_000;

export async function startOutageProxy(target: string): Promise<OutageProxy> {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  // A fixed port: the proxy releases it during an outage and listens on it again afterwards.
  const port = await freePort();
  let isHanging = false;
  let received = '';
  let connections = 0;

  function answer(client: Socket): void {
    connections++;
    watch(client);
    client.on('data', (bytes) => {
      received += bytes.toString('latin1');
      // Not at each request, because slicing copies the whole text.
      if (received.length > 2 * MAX_RECEIVED) received = received.slice(-MAX_RECEIVED);
    });
    if (isHanging) return;
    const engine = connect(Number(targetPort), hostname);
    watch(engine);
    client.pipe(engine);
    engine.pipe(client);
    client.once('close', () => engine.destroy());
    engine.once('close', () => client.destroy());
  }

  function watch(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  }

  async function goDown(): Promise<void> {
    const closing = server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    if (closing === undefined) return;
    const closed = once(closing, 'close');
    closing.close();
    await closed;
  }

  async function listen(hanging: boolean): Promise<void> {
    await goDown();
    isHanging = hanging;
    server = createServer(answer).listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  await listen(false);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    goDown,
    hang: () => listen(true),
    recover: () => listen(false),
    received: () => received.slice(-MAX_RECEIVED),
    connections: () => connections,
  };
}
