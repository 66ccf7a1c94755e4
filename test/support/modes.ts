import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** All files and folders below a path that have any permission for group or others, with the mode in octal. */
export function openToOthers(path: string): readonly string[] {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  // A database may remove its files at any time.
  if (entry === undefined || entry.isSymbolicLink()) return [];
  const own = (entry.mode & 0o077) === 0 ? [] : [`${path} ${(entry.mode & 0o777).toString(8)}`];
  if (!entry.isDirectory()) return own;
  return [...own, ...readdirSync(path).flatMap((name) => openToOthers(join(path, name)))];
}

/** Calls a function with this umask. */
export function withUmask<T>(umask: number, act: () => T): T {
  const before = process.umask(umask);
  try {
    return act();
  } finally {
    process.umask(before);
  }
}
