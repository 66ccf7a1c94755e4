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

/** Tables are there as soon as they are asked for. */
const AT_ONCE = { createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 };

/**
 * With a folder everything lasts, over a SIGKILL too: an item is in LevelDB's log before it is answered for. The log is
 * not synced, so a power cut may take the last seconds. Rejects where the folder or the port cannot be had.
 */
export async function startDynamodb(folder: string | undefined, port: number): Promise<DynamodbEngine> {
  if (folder !== undefined) await proveReadable(folder);
  const server = dynalite({ ...AT_ONCE, ...defined({ path: folder }) });
  outliveItsClients(server);
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

/** It throws where a client is gone in the middle of a request, as a killed function is: this process would end. */
function outliveItsClients(server: Server): void {
  server.on('request', (request) => {
    request.removeAllListeners('error');
    request.on('error', () => {});
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // The database is closed whether the server ever listened or not.
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

interface LevelDatabase {
  open(): Promise<void>;
  close(): Promise<void>;
}

/** It opens its database without telling anybody how that went, and throws at the first request. */
async function proveReadable(folder: string): Promise<void> {
  const require = createRequire(findPackageJSON('dynalite', import.meta.url) ?? import.meta.url);
  const { Level } = require('level') as { Level: new (folder: string) => LevelDatabase };
  const database = new Level(folder);
  await database.open();
  await database.close();
}
