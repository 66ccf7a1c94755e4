import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

const TIMEOUT_MS = 60_000;
/** Ends with whitespace, because a chunk of output may end within the port. */
const ADDRESS = /Running on (http:\/\/127\.0\.0\.1:\d+)\s/;

export interface MotoServer {
  readonly endpoint: string;
  readonly account: string;
  close(): Promise<void>;
}

/** Why moto_server cannot be run here, or undefined. */
export function motoMissing(): string | undefined {
  // Runs the command: a version manager may have a shim on the path for a program that is not installed.
  const { status, error } = spawnSync('moto_server', ['--help'], { stdio: 'ignore', timeout: TIMEOUT_MS });
  return status === 0
    ? undefined
    : `moto_server cannot be run here (${error?.message ?? `it exits with ${status}`})`;
}

/** moto chooses the port itself, so that no other process can take it meanwhile. */
export async function startMoto(): Promise<MotoServer> {
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  // Also if the test run ends early.
  process.once('exit', kill);
  const endpoint = await new Promise<string>((resolve, reject) => {
    let output = '';
    const giveUp = (why: string) => {
      kill();
      reject(new Error(`moto_server ${why}: ${output}`));
    };
    const tooLate = setTimeout(() => giveUp(`printed no address within ${TIMEOUT_MS} ms`), TIMEOUT_MS);
    child.on('error', reject);
    child.on('exit', (code) => giveUp(`ended with ${code}`));
    // moto prints a line for each request. Its output has to be read, or it blocks.
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        if (output.length < 10_000) output += chunk;
        const [, address] = ADDRESS.exec(output) ?? [];
        if (address === undefined) return;
        clearTimeout(tooLate);
        resolve(address);
      });
    }
  });
  child.removeAllListeners('exit');
  return {
    endpoint,
    account: '123456789012',
    close: async () => {
      process.off('exit', kill);
      const gone = once(child, 'exit');
      kill();
      await gone;
    },
  };
}
