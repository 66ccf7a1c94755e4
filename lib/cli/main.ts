import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { Command } from 'commander';
import { addDev } from './commands/dev.ts';
import { addFailures } from './commands/failures.ts';
import { addInit } from './commands/init.ts';
import { addPurge } from './commands/purge.ts';
import { addReplay } from './commands/replay.ts';
import { addSend } from './commands/send.ts';
import { addSidecar } from './commands/sidecar.ts';
import { addSimulate } from './commands/simulate.ts';
import { addStatus } from './commands/status.ts';
import { addValidate } from './commands/validate.ts';
import { addWatch } from './commands/watch.ts';
import { EXIT } from './exit.ts';
import { processTerminal, type Terminal } from './output/terminal.ts';
import { UsageError } from './usage-error.ts';

/** The `asya` command line: resolves with the exit status. */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  let status: number = EXIT.fine;
  const exit = (code: number) => {
    status = code;
  };
  const program = new Command('asya')
    .description(
      'An actor mesh on SQS and Lambda: durable steps, retries by error type, timeouts, deadlines and replay.',
    )
    .version(packageVersion(), '-V, --version', 'print the version')
    .showHelpAfterError('(asya --help tells the commands)')
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.say(text.trimEnd()),
    })
    .exitOverride();
  addDev(program, terminal, exit);
  addSend(program, terminal, exit);
  addWatch(program, terminal, exit);
  addStatus(program, terminal, exit);
  addInit(program, terminal, exit);
  addValidate(program, terminal, exit);
  addSimulate(program, terminal);
  addSidecar(program, terminal, exit);
  addFailures(program, terminal, exit);
  addReplay(program, terminal, exit);
  addPurge(program, terminal, exit);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.say(error.message);
      return EXIT.mistaken;
    }
    // Commander has said it already: help, or what was wrong with the call.
    if (isCommanderError(error)) return error.exitCode === 0 ? EXIT.fine : EXIT.mistaken;
    throw error;
  }
}

/** The nearest package.json describes this package, in the source tree and in the built package. */
function packageVersion(): string {
  const path = findPackageJSON(import.meta.url);
  if (path === undefined) throw new Error(`no package.json above ${import.meta.url}`);
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version;
}

function isCommanderError(error: unknown): error is { readonly exitCode: number } {
  return error instanceof Error && 'exitCode' in error;
}
