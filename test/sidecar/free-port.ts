import { createServer } from 'node:net';

/** Below those that the system gives to whoever asks for any, a connection too: nobody is given it in between. */
const [FIRST, COUNT] = [10_000, 22_000];
/** Each process begins elsewhere, so that tests that run at the same time do not choose the same one. */
const APART = 16;
let chosen = 0;

/** A port of this machine that is free, and is left alone until it is used. */
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
