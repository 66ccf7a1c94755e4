import { lstatSync, type Stats, statSync } from 'node:fs';

/** The state of a path without a file. */
export const MISSING = '';

/** Differs after a file was written, replaced, created or deleted. For a link, also after it was replaced. */
export function fileState(path: string): string {
  const stats = statsOf(path, lstatSync);
  if (!stats?.isSymbolicLink()) return stateText(stats);
  const target = stateText(statsOf(path, statSync));
  return target === MISSING ? MISSING : `${stateText(stats)} ${target}`;
}

export function isChangedAfter(path: string, time: number): boolean {
  return (statsOf(path, statSync)?.mtimeMs ?? 0) > time;
}

function stateText(stats: Stats | undefined): string {
  if (stats === undefined || stats.isDirectory()) return MISSING;
  const { ino, size, mtimeMs, ctimeMs } = stats;
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}

/** Most paths that are missing are candidates of an import, and an exception for each would take time. */
const QUIETLY = { throwIfNoEntry: false } as const;

function statsOf(path: string, read: typeof statSync | typeof lstatSync): Stats | undefined {
  try {
    return read(path, QUIETLY);
  } catch {
    return undefined;
  }
}
