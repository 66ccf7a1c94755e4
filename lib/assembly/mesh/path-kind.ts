import { readdirSync, type Stats, statSync } from 'node:fs';

/** Looks at what somebody named: what cannot be looked at, for whatever reason, is not there. */

export function isFile(path: string): boolean {
  return statsOf(path)?.isFile() ?? false;
}

export function isFolder(path: string): boolean {
  return statsOf(path)?.isDirectory() ?? false;
}

/** Sorted, so that what is told is told in the same order everywhere. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** Through links. A name may be too long for the file system, or hold what it cannot. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
