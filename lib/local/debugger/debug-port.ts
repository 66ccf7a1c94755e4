import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { DebugProtocol } from './debug-protocol.ts';

/** A port on loopback that stays the same when the handler's process, and with it its own debug port, changes. */
export interface DebugPort {
  readonly port: number;
  close(): Promise<void>;
}

export interface DebugPortOptions {
  /** The first port to try. 0: any free port. */
  readonly port: number;
  /** Whether only this port will do. Otherwise the next free one is used. */
  readonly isExact: boolean;
  readonly protocol: DebugProtocol;
  /** The port of the handler's process. Undefined: it does not run at the moment. */
  readonly target: () => number | undefined;
  /** Called when the first debugger attaches and when the last one has left. */
  readonly onChange: (isAttached: boolean) => void;
}

const LOOPBACK = '127.0.0.1';
const MAX_PORT = 65_535;
const MAX_TRIES = 100;
const RETRY_MS = 50;

/** Rejects with the error of the last port if none is free. */
export async function openDebugPort(options: DebugPortOptions): Promise<DebugPort> {
  const { protocol, target, onChange } = options;
  const clients = new Set<Socket>();
  const attached = new Set<Socket>();

  function attach(client: Socket): void {
    // `close` has been emitted before: nobody would remove it.
    if (client.destroyed) return;
    attached.add(client);
    if (attached.size === 1) onChange(true);
  }

  function leave(client: Socket): void {
    clients.delete(client);
    if (attached.delete(client) && attached.size === 0) onChange(false);
  }

  async function serve(client: Socket): Promise<void> {
    clients.add(client);
    client.setNoDelay(true);
    client.on('error', () => {});
    client.once('close', () => leave(client));
    const first = await firstBytes(client);
    if (first === undefined || !protocol.accepts(first)) return void client.destroy();
    const upstream = await untilConnected(target, client);
    if (upstream === undefined) return;
    client.once('close', () => upstream.destroy());
    upstream.on('error', () => {});
    upstream.once('close', () => client.destroy());
    upstream.once('data', (answer: Buffer) => {
      if (protocol.isAttached(first, answer)) attach(client);
      client.write(answer);
      upstream.pipe(client);
    });
    upstream.write(first);
    client.pipe(upstream);
  }

  const server = createServer((client) => void serve(client));
  return {
    port: await listen(server, options),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}

/** Undefined if the client leaves first. */
function firstBytes(client: Socket): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    client.once('close', () => resolve(undefined));
    client.once('data', (chunk: Buffer) => {
      client.pause();
      resolve(chunk);
    });
  });
}

/** Waits while the handler restarts, so that a debugger that connects again in the meantime succeeds. */
async function untilConnected(
  target: DebugPortOptions['target'],
  client: Socket,
): Promise<Socket | undefined> {
  while (!client.destroyed) {
    const port = target();
    const socket = port === undefined ? undefined : await connected(port);
    if (socket !== undefined) {
      if (!client.destroyed) return socket;
      socket.destroy();
      return undefined;
    }
    await pause(RETRY_MS);
  }
  return undefined;
}

function connected(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: LOOPBACK, noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

async function listen(server: Server, { port, isExact }: DebugPortOptions): Promise<number> {
  for (let at = port; ; at++) {
    try {
      server.listen(at, LOOPBACK);
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    } catch (error) {
      const isUsed = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (!isUsed || isExact || at >= Math.min(port + MAX_TRIES, MAX_PORT)) throw error;
    }
  }
}
