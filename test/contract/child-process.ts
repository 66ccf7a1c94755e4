import { spawn } from 'node:child_process';
import { join } from 'node:path';

const TIMEOUT_MS = 60_000;

export interface ChildEnd {
  readonly output: string;
  /** The exit status, or why the process has none. */
  readonly status: number | string;
}

/** Runs a program of this folder with JSON input. If it does not end in time, it is killed, and `status` is the reason. */
export function runInProcess(program: string, input: unknown): Promise<ChildEnd> {
  const child = spawn(process.execPath, [join(import.meta.dirname, program), JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  return new Promise((resolve, reject) => {
    let isLate = false;
    const tooLate = setTimeout(() => {
      isLate = true;
      child.kill('SIGKILL');
    }, TIMEOUT_MS);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(tooLate);
      const status = isLate ? `still running after ${TIMEOUT_MS} ms` : (code ?? String(signal));
      resolve({ output, status });
    });
  });
}
