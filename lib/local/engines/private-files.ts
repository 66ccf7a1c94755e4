import { chmodSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** What a mesh keeps on disk, payloads and keys among it, is for the user who runs it. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;
const PRIVATE_UMASK = 0o077;

/** The umask that this process had before. A process has only one, so it is kept for the process as a whole. */
let umaskBefore: number | undefined;

/**
 * From now on every file that this process creates is private. For the process that holds the engines: LevelDB and
 * SQLite create files at any time, and neither can be told their modes.
 */
export function createFilesPrivately(): void {
  umaskBefore ??= process.umask(PRIVATE_UMASK);
}

/**
 * For the arguments of a process that runs handlers: the umask it has to set first. A child inherits ours, and files
 * that a handler writes must have the modes that they would have without the mesh. None if the umask was not changed.
 */
export function umaskArgument(): readonly string[] {
  return umaskBefore === undefined ? [] : [umaskBefore.toString(8)];
}

/** A file or a folder without what is in it. What a symbolic link points to is not ours, and stays as it is. */
export function makePrivate(path: string): Stats {
  const entry = lstatSync(path);
  const mode = entry.isDirectory() ? PRIVATE_FOLDER : PRIVATE_FILE;
  if (!entry.isSymbolicLink() && (entry.mode & 0o777) !== mode) chmodSync(path, mode);
  return entry;
}

/** From here down, the outermost folder first: once it is closed, nobody else gets to the rest. */
export function makeTreePrivate(path: string): void {
  if (!makePrivate(path).isDirectory()) return;
  for (const name of readdirSync(path)) makeTreePrivate(join(path, name));
}
