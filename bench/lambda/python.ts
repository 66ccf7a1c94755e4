import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PYTHON_OF_IMAGE } from '../../lib/config/plan/lambda-environment.ts';

const BOTO3 = 'boto3==1.44.3';
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/asya-bench');

/** The interpreter of the image if it is installed here, otherwise this machine's. */
export function pythonPath(): string {
  for (const program of [PYTHON_OF_IMAGE, 'python3'])
    try {
      const args = ['-c', 'import sys; print(sys.executable)'];
      return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      // The next one.
    }
  throw new Error(`neither ${PYTHON_OF_IMAGE} nor python3 is installed; install one of them`);
}

/** An interpreter with boto3, installed from the package index at the first run. Undefined, with the reason printed, if that fails. */
export function pythonWithBoto3(): string | undefined {
  const folder = join(CACHE, BOTO3);
  const python = join(folder, 'bin/python');
  if (existsSync(python)) return python;
  const base = pythonPath();
  mkdirSync(CACHE, { recursive: true });
  try {
    run(base, ['-m', 'venv', folder]);
    run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '1', BOTO3]);
    return python;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    process.stderr.write(`bench: no plain handler in Python: ${BOTO3} was not installed: ${String(error)}\n`);
    return undefined;
  }
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
