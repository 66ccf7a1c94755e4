import { createInterface } from 'node:readline/promises';
import type { Environment } from '../../config/settings/variables.ts';

/** What a command needs of its process: environment, output, questions and signals. Tests pass their own. */
export interface Terminal {
  readonly env: Environment;
  readonly cwd: string;
  readonly now: () => number;
  /** Writes one or more lines to stdout: the result, which may be piped. */
  readonly print: (text: string) => void;
  /** Writes one or more lines to stderr: progress, hints and errors. */
  readonly printError: (text: string) => void;
  /** Whether stdin and stderr are terminals: a progress bar can be drawn, and questions can be asked. */
  readonly isInteractive: boolean;
  readonly confirm: (question: string) => Promise<boolean>;
  /**
   * Aborts on Ctrl-C, on SIGTERM, and when the window is closed. A second signal ends the process at once. The first call
   * installs the signal handlers.
   */
  readonly stop: () => AbortSignal;
}

export function processTerminal(): Terminal {
  let stopping: AbortController | undefined;
  return {
    env: process.env,
    cwd: process.cwd(),
    now: Date.now,
    print: (text) => process.stdout.write(`${text}\n`),
    printError: (text) => process.stderr.write(`${text}\n`),
    isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    confirm: async (question) => {
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      // Ctrl-C and Ctrl-D close the interface without settling the question.
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
 * Under npm, one Ctrl-C or closed window arrives twice: from the terminal, and forwarded by npm, on a busy machine much
 * later. A repeated signal within this time counts as the same one.
 */
const SAME_SIGNAL_MS = 3_000;

function stopOnSignals(): AbortController {
  const stopping = new AbortController();
  let abortedAt = 0;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const isSame = signal !== 'SIGTERM' && performance.now() - abortedAt < SAME_SIGNAL_MS;
      if (stopping.signal.aborted && !isSame) process.exit(1);
      if (!stopping.signal.aborted) abortedAt = performance.now();
      stopping.abort();
    });
  }
  return stopping;
}
