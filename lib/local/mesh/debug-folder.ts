import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { PRIVATE_FILE } from '../engines/private-files.ts';

export interface SocketFolder {
  readonly path: string;
  remove(): void;
}

/** File in the data folder that names the socket folder. */
const NOTE = 'sockets.json';
/** Prefix of the folder's name. Folders without it are never removed, whatever the file contains. */
const PREFIX = 'asya-';
/** A runtime lives a moment longer than its killed function, and may create its socket during the removal. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5 };

/**
 * Creates a folder for the sockets of the runtimes. The path of a socket is limited to 107 characters, and the path of the
 * mesh's folder may be longer, so this is a temporary folder. A killed mesh does not remove it. The next mesh on the same
 * data, which then holds its lock, does.
 */
export function openSocketFolder(dataDir: string | undefined): SocketFolder {
  if (dataDir !== undefined) removeLeftSockets(dataDir);
  const path = mkdtempSync(join(tmpdir(), PREFIX));
  if (dataDir !== undefined) {
    const note = { dataDir: realpathSync(dataDir), path };
    writeFileSync(join(dataDir, NOTE), `${JSON.stringify(note)}\n`, { mode: PRIVATE_FILE });
  }
  return {
    path,
    remove: () => {
      rmSync(path, REMOVAL);
      if (dataDir !== undefined) rmSync(join(dataDir, NOTE), { force: true });
    },
  };
}

/** Removes the socket folder of an earlier mesh. Only for data that no mesh uses. */
export function removeLeftSockets(dataDir: string): void {
  const path = notedIn(dataDir);
  if (path !== undefined) rmSync(path, REMOVAL);
}

/** Returns undefined if the data is a copy, because the sockets belong to the original. */
function notedIn(dataDir: string): string | undefined {
  try {
    const note = JSON.parse(readFileSync(join(dataDir, NOTE), 'utf8')) as Record<string, unknown>;
    const { path } = note;
    const isOurs = note['dataDir'] === realpathSync(dataDir) && typeof path === 'string';
    return isOurs && basename(path).startsWith(PREFIX) ? path : undefined;
  } catch {
    return undefined;
  }
}
