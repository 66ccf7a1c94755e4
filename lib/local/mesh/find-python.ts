import { spawnSync } from 'node:child_process';

const NAMES = ['python3', 'python'];
/** The runtime supports Python 3.9 and later. Prints the interpreter's path, because a version manager's shim costs 100 ms. */
const WHERE = 'import sys; print(sys.executable if sys.version_info >= (3, 9) else "")';

let found: { readonly python: string | undefined } | undefined;

/** The Python interpreter of this machine. The result is cached. */
export function findPython(): string | undefined {
  found ??= { python: NAMES.map(executableOf).find((path) => path !== '') };
  return found.python;
}

function executableOf(name: string): string {
  const { status, stdout } = spawnSync(name, ['-c', WHERE], { encoding: 'utf8', timeout: 10_000 });
  return status === 0 ? stdout.trim() : '';
}
