import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../sidecar/free-port.ts';

/** A way to an engine that can be shut and opened again, on one port: the engine is gone and back with its data. */
export interface Gate {
  readonly endpoint: string;
  /** Nobody answers on the port any more: connections are refused, and those there are break. */
  shut(): Promise<void>;
  /** Whoever connects is heard, and never answered. */
  hush(): Promise<void>;
  open(): Promise<void>;
  /** What was last asked, word for word: the latest 200 KB. */
  asked(): string;
  /** How many connections were made. */
  callers(): number;
}

const KEPT = 200_000;

export async function startGate(target: string): Promise<Gate> {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  // It is given up while the gate is shut, and wanted again.
  const port = await freePort();
  let isSilent = false;
  let asked = '';
  let callers = 0;

  function answer(client: Socket): void {
    callers++;
    watch(client);
    client.on('data', (bytes) => {
      asked += bytes.toString('latin1');
      // Not at each request: to cut copies all that is kept.
      if (asked.length > 2 * KEPT) asked = asked.slice(-KEPT);
    });
    if (isSilent) return;
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

  async function shut(): Promise<void> {
    const closing = server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    if (closing === undefined) return;
    const closed = once(closing, 'close');
    closing.close();
    await closed;
  }

  async function reopen(silent: boolean): Promise<void> {
    await shut();
    isSilent = silent;
    server = createServer(answer).listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  await reopen(false);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    shut,
    hush: () => reopen(true),
    open: () => reopen(false),
    asked: () => asked.slice(-KEPT),
    callers: () => callers,
  };
}
