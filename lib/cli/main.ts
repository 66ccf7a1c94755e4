import { Command } from 'commander';

/** The `asya` command line. Each command loads what it needs when it is called: a broker's client takes its time. */
export async function main(argv: readonly string[]): Promise<number> {
  let status = 0;
  const program = new Command('asya')
    .description(
      'An actor mesh on SQS and Lambda: durable steps, retries by error type, timeouts, deadlines and replay.',
    )
    .showHelpAfterError('(asya --help tells the commands)')
    .exitOverride();
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

docs/configuration.md lists every variable. Exit status: 0 stopped as told, 1 failed, 2 a mistake in the configuration.`,
    )
    .action(async () => {
      const { runSidecar } = await import('./sidecar.ts');
      status = await runSidecar({
        env: process.env,
        write: say,
        complain,
        stop: stopOnSignals(),
      });
    });
  program
    .command('validate')
    .description(
      "reads the AsyncActor documents and flows.yaml of a mesh's folder, and tells every mistake at once",
    )
    .argument('[DIR]', "the mesh's folder", '.')
    .option('--json', 'one JSON document instead of words, for scripts')
    .addHelpText(
      'after',
      `
Example:
  asya validate examples/my-mesh

docs/manifest.md lists every field. Exit status: 0 fine, warnings included, 2 a mistake in the mesh.`,
    )
    .action(async (folder: string, { json = false }: { readonly json?: boolean }) => {
      const { runValidate } = await import('./validate.ts');
      status = runValidate({ folder, isJson: json, write: say, complain });
    });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return status;
  } catch (error) {
    // Commander has said it already: help, or what was wrong with the call.
    if (isCommanderError(error)) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function complain(words: string): void {
  process.stderr.write(`${words}\n`);
}

function isCommanderError(error: unknown): error is { readonly exitCode: number } {
  return error instanceof Error && 'exitCode' in error;
}

/** Ctrl-C and the platform's stop ask alike; asked twice, it ends at once. */
function stopOnSignals(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(1);
      stopping.abort();
    });
  }
  return stopping.signal;
}
