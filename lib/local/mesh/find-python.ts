import { spawnSync } from 'node:child_process';

const NAMES = ['python3', 'python'];
/** 3.9 is the oldest that the runtime knows. The interpreter itself: a version manager's shim costs a tenth of a second. */
const WHERE = 'import sys; print(sys.executable if sys.version_info >= (3, 9) else "")';

let found: { readonly python: string | undefined } | undefined;

/** The Python of this machine, looked for once. */
export function findPython(): string | undefined {
  found ??= { python: NAMES.map(executableOf).find((path) => path !== '') };
  return found.python;
}

function executableOf(name: string): string {
  const { status, stdout } = spawnSync(name, ['-c', WHERE], { encoding: 'utf8', timeout: 10_000 });
  return status === 0 ? stdout.trim() : '';
}
