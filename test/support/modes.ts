import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Every file and folder from here down that others than its owner may use in any way, with its mode in octal. */
export function openToOthers(path: string): readonly string[] {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  // Databases remove files of theirs at any time.
  if (entry === undefined || entry.isSymbolicLink()) return [];
  const own = (entry.mode & 0o077) === 0 ? [] : [`${path} ${(entry.mode & 0o777).toString(8)}`];
  if (!entry.isDirectory()) return own;
  return [...own, ...readdirSync(path).flatMap((name) => openToOthers(join(path, name)))];
}

/** What the function starts or writes has this umask. */
export function withUmask<T>(umask: number, act: () => T): T {
  const before = process.umask(umask);
  try {
    return act();
  } finally {
    process.umask(before);
  }
}
