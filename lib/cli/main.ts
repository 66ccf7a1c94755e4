import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { Command } from 'commander';
import { addDev } from './commands/dev.ts';
import { addEnv } from './commands/env.ts';
import { addFailures } from './commands/failures.ts';
import { addInit } from './commands/init.ts';
import { addPurge } from './commands/purge.ts';
import { addQueues } from './commands/queues.ts';
import { addReplay } from './commands/replay.ts';
import { addRuns } from './commands/runs.ts';
import { addScale } from './commands/scale.ts';
import { addSend } from './commands/send.ts';
import { addSidecar } from './commands/sidecar.ts';
import { addSimulate } from './commands/simulate.ts';
import { addStatus } from './commands/status.ts';
import { addValidate } from './commands/validate.ts';
import { addWatch } from './commands/watch.ts';
import type { AddCommand } from './define-command.ts';
import { EXIT } from './exit-status.ts';
import { processTerminal, type Terminal } from './output/terminal.ts';
import { UsageError } from './usage-error.ts';

/** In the order of `asya --help`. */
const COMMANDS: readonly AddCommand[] = [
  addDev,
  addSend,
  addWatch,
  addRuns,
  addStatus,
  addQueues,
  addInit,
  addValidate,
  addSimulate,
  addScale,
  addEnv,
  addSidecar,
  addFailures,
  addReplay,
  addPurge,
];

/** The `asya` command line. Resolves with the exit status. */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  let status: number = EXIT.ok;
  const exit = (code: number) => {
    status = code;
  };
  const program = new Command('asya')
    .description(
      'An actor mesh on SQS and Lambda: durable steps, retries by error type, timeouts, deadlines and replay.',
    )
    .version(packageVersion(), '-V, --version', 'print the version')
    .showHelpAfterError('(run asya --help for a list of commands)')
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.printError(text.trimEnd()),
    })
    .exitOverride();
  for (const add of COMMANDS) add(program, terminal, exit);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.printError(error.message);
      return EXIT.usageError;
    }
    // Commander has already printed the help or the error.
    if (isCommanderError(error)) return error.exitCode === 0 ? EXIT.ok : EXIT.usageError;
    throw error;
  }
}

/** The nearest package.json is this package's, both in the source tree and in the built package. */
function packageVersion(): string {
  const path = findPackageJSON(import.meta.url);
  if (path === undefined) throw new Error(`no package.json above ${import.meta.url}`);
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version;
}

function isCommanderError(error: unknown): error is { readonly exitCode: number } {
  return error instanceof Error && 'exitCode' in error;
}
