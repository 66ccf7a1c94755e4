import { writeSync } from 'node:fs';
import { runWorker } from '../../lib/assembly/hosts/worker.ts';

/**
 * A sidecar that freezes at the first step of this name: `node freeze-at.ts sent`. It blocks the event loop, so a test
 * can kill it at exactly that step.
 */
const [, , step] = process.argv;

process.exit(
  await runWorker({
    env: process.env,
    write: (line) => writeSync(1, `${line}\n`),
    printError: (message) => writeSync(2, `${message}\n`),
    stop: new AbortController().signal,
    observer: {
      received: () => {},
      began: () => {},
      ended: () => {},
      warn: () => {},
      step: (what) => {
        if (what !== step) return;
        writeSync(1, `${JSON.stringify({ message: 'frozen', step })}\n`);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      },
    },
  }),
);
