import { defineCommand } from '../define-command.ts';

export const addDev = defineCommand({
  name: 'dev',
  description: 'run a mesh on this machine: queues, functions, runtimes, crew and gateway',
  declare: (command) =>
    command
      .argument('[DIR]', "the mesh's folder", '.')
      .option('--fresh', 'delete the data of earlier runs first')
      .option('--transport <broker>', "sqs, or pubsub (on Google's emulator)", 'sqs')
      .option('--sqs-port <port>', 'port for SQS and S3 (default: any free port)')
      .option('--dynamodb-port <port>', 'port for DynamoDB (default: any free port)')
      .option(
        '--gateway-port <port>',
        'port for the gateway (default: the port of the last start, or any free port)',
      )
      .option('--replicas <count>', 'maximum number of copies of each function', '1')
      .option('--log-level <level>', 'log level of the functions: debug, info, warn or error', 'info')
      .option(
        '--inspect <actor[=port]>',
        'let a debugger attach to the handler of this actor; repeat it for more actors',
        (value: string, earlier: readonly string[] = []) => [...earlier, value],
      )
      .option('--plain', 'print lines instead of a live view'),
  help: `Examples:
  asya dev examples/hello
  asya send hello --payload '{"name":"you"}' --wait     (in another shell)
  asya dev my-mesh --inspect score                      (then attach a debugger to 127.0.0.1:9229)

You can change handlers and the manifest while the mesh runs. Data and logs are in .asya/ in the current directory.
Exit status: 0 stopped, 1 failed, 2 usage error or invalid mesh.`,
  load: async () => (await import('./dev/run-dev.ts')).runDev,
});
