import { readdirSync, readFileSync } from 'node:fs';

/** The process and all its descendants. */
export function processTree(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    const parent = parentOf(pid);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree: number[] = [root];
  // The list grows while it is read.
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** Proportional set size: private pages count in full, a page shared by n processes counts 1/n in each of them. */
export function proportionalMb(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) => {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? Number.NaN);
  });
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
}

/** Undefined if the process has ended. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may contain anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
