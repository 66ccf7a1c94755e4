import { createServer } from 'node:net';

/** Below those that systems give to whoever asks for any: nobody gets it by chance before it is used, or used again. */
const FIRST = 20_000;
const COUNT = 12_000;
const given = new Set<number>();

/** A port of this machine that was free a moment ago, and another one each time. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
