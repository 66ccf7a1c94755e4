import { existsSync, readFileSync } from 'node:fs';

/** A zombie that nobody has reaped yet is as good as gone. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** One per line. A file is there before anything is in it, and a line that has no end yet is no number yet. */
export function pidsIn(path: string): readonly number[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').slice(0, -1).map(Number);
}
