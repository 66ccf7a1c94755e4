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
  const server = await createServer(host);
  try {
    if ('path' in address) await prepareSocketPath(address.path);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(address, resolve);
    });
    return server;
  } catch (error) {
    if (error instanceof StartupError) throw error;
    const reason = valueAt(error, 'message');
    throw new StartupError(`cannot listen at ${url}: ${reason}; set ASYA_RUNTIME_URL to a free address`, {
      cause: error,
    });
  }
}

async function createServer(host: HandlerHost): Promise<Server> {
  if (host.settings.kind === 'socket') return createSocketServer(host);
  if (host.settings.kind === 'asya') {
    const { createAsyaServer } = await import('./asya-server.ts');
    return createAsyaServer(host);
  }
  // Imported only if needed: `node:http` is slow to load.
  const { createHttpServer } = await import('./http-server.ts');
  return createHttpServer(host);
}

/**
 * Creates the folder and removes a stale socket file, which remains after a process was killed. Throws a
 * StartupError if another process listens there, or if the path is not a socket.
 */
async function prepareSocketPath(path: string): Promise<void> {
  const advice = 'or set ASYA_SOCKET_PATH to another path';
  // A sidecar creates the folder itself. If it is missing, the mesh has ended and removed it.
  if (process.env['ASYA_PARENT_PIPE'] !== '1') mkdirSync(dirname(path), { recursive: true });
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new StartupError(`${path} exists and is not a socket; remove it, ${advice}`);
  if (await isListening(path))
    throw new StartupError(`another process listens at ${path}; stop it, ${advice}`);
  unlinkSync(path);
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
