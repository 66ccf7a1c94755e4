import { spawnSync } from 'node:child_process';

const NAMES = ['python3', 'python'];

let found: { readonly python: string | undefined } | undefined;

/** The Python of this machine, looked for once; 3.9 is the oldest that the runtime knows. */
export function findPython(): string | undefined {
  found ??= { python: NAMES.find(isPython3) };
  return found.python;
}

function isPython3(name: string): boolean {
  const check = 'import sys; sys.exit(sys.version_info < (3, 9))';
  return spawnSync(name, ['-c', check], { stdio: 'ignore', timeout: 10_000 }).status === 0;
}
