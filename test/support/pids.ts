import { existsSync, readFileSync } from 'node:fs';

/** False also for a zombie process. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** The process ids in a file, one per line. Ignores a last line without a line end, which may be incomplete. */
export function pidsIn(path: string): readonly number[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').slice(0, -1).map(Number);
}
