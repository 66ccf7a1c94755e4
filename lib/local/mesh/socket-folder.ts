import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { PRIVATE_FILE } from '../engines/private-files.ts';

export interface SocketFolder {
  readonly path: string;
  remove(): void;
}

/** What the data remembers of the sockets beside it. */
const NOTE = 'sockets.json';
/** Of the folder's name; nothing else is ever removed, whatever a note says. */
const PREFIX = 'asya-';
/** A runtime whose function was killed lives a moment longer, and may make its socket in what is being removed. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5 };

/**
 * A folder for the runtimes' sockets. A socket's path may have 107 characters, and the mesh's own folder may lie too deep;
 * so it is a temporary one, which a killed mesh leaves behind. The next one on the same data, whose lock it has, removes it.
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

/** For data that no mesh works on. */
export function removeLeftSockets(dataDir: string): void {
  const path = notedIn(dataDir);
  if (path !== undefined) rmSync(path, REMOVAL);
}

/** Undefined also where the note was copied with the data: the sockets are the original's. */
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
