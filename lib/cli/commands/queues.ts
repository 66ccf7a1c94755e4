import { defineCommand } from '../define-command.ts';
import { addMeshOption } from '../options/filter-options.ts';

export const addQueues = defineCommand({
  name: 'queues',
  description: 'show the depth of every queue and dead-letter queue (SQS only)',
  declare: (command) =>
    addMeshOption(command)
      .option(
        '--actors <names>',
        'comma-separated actors; required for a mesh that does not run on this machine',
      )
      .option('--json', 'print JSON'),
  help: `Example:
  asya queues --json

Exit status: 0 ok, 1 a queue is missing or the broker failed, 2 usage error.`,
  load: async () => (await import('./queues/run-queues.ts')).runQueues,
});
