import { lstatSync, mkdirSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import { StartupError } from '../startup-error.ts';
import { valueAt } from '../value-at.ts';
import type { HandlerHost } from './handler-host.ts';
import { createSocketServer } from './socket-server.ts';

/** Resolves when the runtime accepts calls. Throws a StartupError if it cannot listen. */
export async function listen(host: HandlerHost): Promise<Server> {
  const { address, url } = host.settings;
  if ('path' in address) await prepareSocketPath(address.path);
  const server = await createServer(host);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new StartupError(`cannot listen at ${url}: ${error.message}; set ASYA_RUNTIME_URL to a free place`),
      ),
    );
    server.listen(address, resolve);
  });
  return server;
}

async function createServer(host: HandlerHost): Promise<Server> {
  if (!host.settings.isHttp) return createSocketServer(host);
  // Imported only if needed: `node:http` is slow to load.
  const { createHttpServer } = await import('./http-server.ts');
  return createHttpServer(host);
}

/**
 * Creates the folder and removes a stale socket file, which remains after a process was killed. Refuses if another
 * process listens there, or if the path is not a socket.
 */
async function prepareSocketPath(path: string): Promise<void> {
  const elsewhere = 'set ASYA_SOCKET_PATH to another path';
  try {
    mkdirSync(dirname(path), { recursive: true });
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return;
    if (!found.isSocket())
      throw new StartupError(`${path} is there and is no socket; remove it, or ${elsewhere}`);
    if (await isListening(path))
      throw new StartupError(`another runtime answers at ${path}; stop it, or ${elsewhere}`);
    unlinkSync(path);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`cannot listen at ${path}: ${valueAt(error, 'message')}; ${elsewhere}`, {
      cause: error,
    });
  }
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect(path);
    const settle = (report: () => void): void => {
      probe.destroy();
      report();
    };
    probe.setTimeout(1_000, () => settle(() => resolve(true)));
    probe.once('connect', () => settle(() => resolve(true)));
    probe.once('error', (error: NodeJS.ErrnoException) =>
      settle(() =>
        error.code === 'ECONNREFUSED' || error.code === 'ENOENT' ? resolve(false) : reject(error),
      ),
    );
  });
}
