import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { PRIVATE_FILE } from '../engines/private-files.ts';

export interface DebugFolder {
  readonly path: string;
  remove(): void;
}

/** File in the data folder that names the debug folder. Earlier versions kept the sockets of runtimes there. */
const NOTE = 'sockets.json';
/** Prefix of the folder's name. Folders without it are never removed, whatever the file contains. */
const PREFIX = 'asya-';
/** A runtime lives a moment longer than its killed function, and may create its file during the removal. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5 };

/**
 * Creates a temporary folder in which the processes of inspected handlers announce the ports of their debuggers. They write
 * with the handlers' umask, so it is private. A killed mesh does not remove it: call `removeLeftDebugFolder` first.
 */
export function openDebugFolder(dataDir: string | undefined): DebugFolder {
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

/** Removes the debug folder of an earlier mesh. Only for data that no other mesh uses. */
export function removeLeftDebugFolder(dataDir: string): void {
  const path = notedIn(dataDir);
  if (path === undefined) return;
  rmSync(path, REMOVAL);
  rmSync(join(dataDir, NOTE), { force: true });
}

/** Returns undefined if the data is a copy, because the folder belongs to the original. */
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
