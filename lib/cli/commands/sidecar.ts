import type { Command } from 'commander';
import type { Terminal } from '../output/terminal.ts';

export function addSidecar(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  program
    .command('sidecar')
    .description("works on an actor's queue for as long as it lives, configured by ASYA_* variables only")
    .addHelpText(
      'after',
      `
Example:
  ASYA_ACTOR_NAME=score \\
  ASYA_SQS_ENDPOINT=http://127.0.0.1:4566 \\
  ASYA_RUNTIME_COMMAND='python3 runtimes/python/asya_runtime.py my_module.my_func' \\
  asya sidecar

With ASYA_ACTOR_NAME=x-sink, x-sump or x-dlq it is one of the crew, and needs ASYA_ARCHIVE_BUCKET and
ASYA_FAILURE_TABLE in place of a runtime. docs/configuration.md lists every variable.
Exit status: 0 stopped as told, 1 failed, 2 a mistake in the configuration.`,
    )
    .action(async () => {
      const { runWorker: runSidecar } = await import('../../assembly/hosts/worker.ts');
      const { env, print, say } = terminal;
      exit(await runSidecar({ env, write: print, printError: say, stop: terminal.stop() }));
    });
}
