import { once } from 'node:events';
import type { Server } from 'node:http';
import { createRequire, findPackageJSON } from 'node:module';
import type { AddressInfo } from 'node:net';
import dynalite from 'dynalite';
import { defined } from '../../core/text/defined.ts';
import { guardServer, PROGRAMS_ONLY } from './browser-guard.ts';

/** DynamoDB in this process, on loopback, for programs only: requests of browsers are refused. */
export interface DynamodbEngine {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** Tables are active immediately after `CreateTable`. */
const WITHOUT_DELAYS = { createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 };

/**
 * With a folder, data survives a SIGKILL: an item is in LevelDB's log before the request is answered. The log is not
 * synced, so a power failure may lose the last seconds. Rejects if the folder or the port cannot be used.
 */
export async function startDynamodb(folder: string | undefined, port: number): Promise<DynamodbEngine> {
  if (folder !== undefined) await checkDatabase(folder);
  const server = dynalite({ ...WITHOUT_DELAYS, ...defined({ path: folder }) });
  ignoreClientErrors(server);
  guardServer(server, PROGRAMS_ONLY);
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    await close(server);
    throw error;
  }
  const { port: taken } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${taken}`, close: () => close(server) };
}

/** dynalite throws if a client disconnects during a request, as a killed function does. This process would exit. */
function ignoreClientErrors(server: Server): void {
  server.on('request', (request) => {
    request.removeAllListeners('error');
    request.on('error', () => {});
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // This also closes the database, even if the server never listened.
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

interface LevelDatabase {
  open(): Promise<void>;
  close(): Promise<void>;
}

/** dynalite does not report a database that cannot be opened until the first request, so open it here first. */
async function checkDatabase(folder: string): Promise<void> {
  const require = createRequire(findPackageJSON('dynalite', import.meta.url) ?? import.meta.url);
  const { Level } = require('level') as { Level: new (folder: string) => LevelDatabase };
  const database = new Level(folder);
  await database.open();
  await database.close();
}
