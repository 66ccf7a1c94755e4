import { chmodSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** Files of a mesh contain payloads and keys, so only the user who runs it may read them. */
export const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;
const PRIVATE_UMASK = 0o077;

/** The original umask of this process. */
let umaskBefore: number | undefined;

/**
 * Makes every file private that this process creates from now on. Call it in the process that runs the engines: LevelDB
 * and SQLite create files at any time, and their modes cannot be configured.
 */
export function createFilesPrivately(): void {
  umaskBefore ??= process.umask(PRIVATE_UMASK);
}

/**
 * The original umask as an argument for a child process that runs handlers. The child has to set it first, because it
 * inherits ours, and files of a handler must have the same modes as without the mesh. Empty if the umask was not changed.
 */
export function umaskArgument(): readonly string[] {
  return umaskBefore === undefined ? [] : [umaskBefore.toString(8)];
}

/** Changes the mode of a file or a folder, but not of its contents. The target of a symbolic link is not changed. */
export function makePrivate(path: string): Stats {
  const entry = lstatSync(path);
  const mode = entry.isDirectory() ? PRIVATE_FOLDER : PRIVATE_FILE;
  if (!entry.isSymbolicLink() && (entry.mode & 0o777) !== mode) chmodSync(path, mode);
  return entry;
}

/** Changes the modes of a folder and all its contents, the folder first: then other users cannot reach the contents. */
export function makeTreePrivate(path: string): void {
  if (!makePrivate(path).isDirectory()) return;
  for (const name of readdirSync(path)) makeTreePrivate(join(path, name));
}
