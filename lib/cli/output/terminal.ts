import { createInterface } from 'node:readline/promises';
import type { Environment } from '../../config/settings/variables.ts';

/** Where a command is given: what it may read, and where it says things. */
export interface Terminal {
  readonly env: Environment;
  readonly cwd: string;
  readonly now: () => number;
  /** One line or more, for whoever reads or pipes it on. */
  readonly print: (text: string) => void;
  /** Words beside the output: progress, complaints. */
  readonly say: (text: string) => void;
  /** A person sits there: progress may be drawn, questions may be asked. */
  readonly isInteractive: boolean;
  readonly confirm: (question: string) => Promise<boolean>;
  /** Aborts at Ctrl-C, when the window is closed or when the platform says stop; asked twice, the process ends at once. */
  readonly stop: () => AbortSignal;
}

export function processTerminal(): Terminal {
  let stopping: AbortController | undefined;
  return {
    env: process.env,
    cwd: process.cwd(),
    now: Date.now,
    print: (text) => process.stdout.write(`${text}\n`),
    say: (text) => process.stderr.write(`${text}\n`),
    isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    confirm: async (question) => {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      // Ctrl-C and Ctrl-D close it, and leave the question without an answer.
      const noAnswer = new Promise<string>((resolve) => lines.once('close', () => resolve('\n')));
      try {
        const answer = await Promise.race([lines.question(`${question} [y/N] `), noAnswer]);
        if (answer === '\n') process.stderr.write(answer);
        return /^y(es)?$/i.test(answer.trim());
      } finally {
        lines.close();
      }
    },
    stop: () => {
      stopping ??= stopOnSignals();
      return stopping.signal;
    },
  };
}

/**
 * One Ctrl-C under npm arrives twice: from the terminal, and from npm, which hands it on, on a busy machine much later.
 * So does a closed window. As long as it takes to stop, it is the same one.
 */
const SAME_SIGNAL_MS = 3_000;

function stopOnSignals(): AbortController {
  const stopping = new AbortController();
  let askedAt = 0;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const isSame = signal !== 'SIGTERM' && performance.now() - askedAt < SAME_SIGNAL_MS;
      if (stopping.signal.aborted && !isSame) process.exit(1);
      if (!stopping.signal.aborted) askedAt = performance.now();
      stopping.abort();
    });
  }
  return stopping;
}
