import { runWorker } from '../../../assembly/hosts/worker.ts';
import type { Terminal } from '../../output/terminal.ts';

/** `asya sidecar`. */
export function runSidecar({ env, print, printError, stop }: Terminal): Promise<number> {
  return runWorker({ env, write: print, printError, stop: stop() });
}
