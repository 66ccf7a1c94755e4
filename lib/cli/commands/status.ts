import { defineCommand } from '../define-command.ts';
import { addMeshOption } from '../options/filter-options.ts';

export const addStatus = defineCommand({
  name: 'status',
  description: 'show a mesh on this machine: its flows, queues and number of failures',
  declare: (command) => addMeshOption(command).option('--json', 'print JSON'),
  help: `Example:
  asya status --mesh hello

Exit status: 0 ok, 1 a broker or store failed, 2 usage error.`,
  load: async () => (await import('./status/run-status.ts')).runStatus,
});
