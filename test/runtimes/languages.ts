import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const PROJECT = join(import.meta.dirname, '../..');

/** One of the two runtimes, and how it names the handlers in `handlers/`. */
export interface Language {
  readonly name: 'python' | 'node';
  readonly command: string;
  readonly script: string;
  /** The runtime's full name for a handler: `./handlers.ts.echo`, `handlers.echo`. */
  readonly handler: (name: string) => string;
  readonly missing?: string;
}

export const HANDLERS = join(import.meta.dirname, 'handlers');

export const NODE: Language = {
  name: 'node',
  command: process.execPath,
  script: join(PROJECT, 'runtimes/node/asya-runtime.ts'),
  handler: (name) => `./handlers.ts.${name}`,
};

export const PYTHON: Language = {
  name: 'python',
  ...findPython(),
  script: join(PROJECT, 'runtimes/python/asya_runtime.py'),
  handler: (name) => `handlers.${name}`,
};

/** The interpreter and not a launcher in front of it, so that its pid is the runtime's. `PYTHON` overrides it. */
function findPython(): { command: string; missing?: string } {
  const command = process.env['PYTHON'] ?? 'python3';
  const program = 'import sys; print(sys.executable); sys.exit(sys.version_info < (3, 9))';
  const { status, stdout } = spawnSync(command, ['-c', program], { encoding: 'utf8', timeout: 60_000 });
  if (status === 0) return { command: stdout.trim() };
  return { command, missing: `${command} was not found or is older than 3.9` };
}

export const LANGUAGES: readonly Language[] = [PYTHON, NODE].filter(({ name, missing }) => {
  if (missing !== undefined) console.warn(`runtimes: skipping ${name}, because ${missing}`);
  return missing === undefined;
});
