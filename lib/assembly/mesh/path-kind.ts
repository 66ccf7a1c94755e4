import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';

/** File system checks that never throw: a path that cannot be read, for whatever reason, does not exist. */

export function isFile(path: string): boolean {
  return statsOf(path)?.isFile() ?? false;
}

export function isFolder(path: string): boolean {
  return statsOf(path)?.isDirectory() ?? false;
}

/** The path without links. Unchanged if it cannot be followed. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Sorted, so that messages list them in the same order on every machine. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** Follows links. A name may be too long for the file system, or contain characters that it does not allow. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
