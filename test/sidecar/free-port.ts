import { createServer } from 'node:net';

/** Below the ephemeral ports, so that the system does not assign it to another socket in the meantime. */
const [FIRST, COUNT] = [10_000, 22_000];
/** Each process starts at another port, so that concurrent tests do not choose the same one. */
const APART = 16;
let chosen = 0;

/** A free port of this machine that stays free until the test uses it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + ((process.pid * APART + chosen++) % COUNT);
    if (await isFree(port)) return port;
  }
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
