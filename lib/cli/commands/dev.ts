import type { Command } from 'commander';
import type { Terminal } from '../output/terminal.ts';
import type { DevOptions } from './dev/run-dev.ts';

export function addDev(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  program
    .command('dev')
    .argument('[DIR]', "the mesh's folder", '.')
    .description('runs a whole mesh on this machine: queues, functions, runtimes, crew, gateway')
    .option('--fresh', 'forgets everything kept from before')
    .option('--transport <broker>', "sqs, or pubsub on Google's emulator", 'sqs')
    .option('--sqs-port <port>', 'for SQS and S3; any free one without')
    .option('--dynamodb-port <port>', 'for DynamoDB; any free one without')
    .option('--gateway-port <port>', 'for the gateway; any free one without')
    .option('--replicas <count>', 'copies of each function at the most', '1')
    .option('--log-level <level>', 'of the functions: debug, info, warn, error', 'info')
    .option('--plain', 'lines instead of a screen')
    .addHelpText(
      'after',
      `
Examples:
  asya dev examples/hello
  asya send hello --payload '{"name":"you"}' --wait     (in another shell)

Handlers and the manifest may be changed while it runs. What it keeps lies in .asya/ where it was started.
Exit status: 0 stopped as told, 1 failed, 2 a mistake in the mesh or the call.`,
    )
    .action(async (folder: string, options: DevOptions) => {
      const { runDev } = await import('./dev/run-dev.ts');
      exit(await runDev(folder, options, terminal));
    });
}
