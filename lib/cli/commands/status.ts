import { defineCommand } from '../define-command.ts';
import { addMeshOption } from '../options/filter-options.ts';

export const addStatus = defineCommand({
  name: 'status',
  description: 'show a mesh on this machine: whether it runs, its gateway, flows, queues and open failures',
  declare: (command) => addMeshOption(command).option('--json', 'print JSON'),
  help: `Example:
  asya status --mesh hello

Exit status: 0 ok, 1 the mesh does not run, or a broker or store failed, 2 usage error.`,
  load: async () => (await import('./status/run-status.ts')).runStatus,
});
