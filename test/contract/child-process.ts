import { spawn } from 'node:child_process';
import { join } from 'node:path';

const PATIENCE_MS = 60_000;

export interface ChildEnd {
  readonly words: string;
  /** The exit status, or why there is none. */
  readonly status: number | string;
}

/** Runs one of this folder's programs; it has to end by itself, or it is killed and that is told. */
export function runInProcess(program: string, told: unknown): Promise<ChildEnd> {
  const child = spawn(process.execPath, [join(import.meta.dirname, program), JSON.stringify(told)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let words = '';
  child.stdout.on('data', (chunk) => {
    words += chunk;
  });
  child.stderr.on('data', (chunk) => {
    words += chunk;
  });
  return new Promise((resolve, reject) => {
    let isLate = false;
    const tooLate = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, PATIENCE_MS);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(tooLate);
      const status = isLate ? `still running after ${PATIENCE_MS} ms` : (code ?? String(signal));
      resolve({ words, status });
    });
  });
}
