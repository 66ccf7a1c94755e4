import { fstatSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { StartupError } from './startup-error.ts';

/**
 * Kills this process when stdin closes. It runs in its own thread, because the main thread cannot react while a
 * handler blocks it. It waits in an event loop, because a blocking read would keep `process.exit` from ending the thread.
 */
const WATCHER = `
const stdin = new (require('node:net').Socket)({ fd: 0 });
stdin.on('error', () => {});
stdin.on('close', () => process.kill(process.pid, 'SIGKILL'));
stdin.resume();
`;

/** With `ASYA_PARENT_PIPE=1` the sidecar holds the other end of stdin: the runtime ends when the sidecar ends. */
export function watchParent(): void {
  const stdin = fstatSync(0);
  if (!stdin.isFIFO() && !stdin.isSocket())
    throw new StartupError(
      'ASYA_PARENT_PIPE is 1, but stdin is not a pipe; unset it, or connect stdin to a pipe',
    );
  new Worker(WATCHER, { eval: true }).unref();
}
