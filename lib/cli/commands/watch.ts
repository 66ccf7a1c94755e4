import { defineCommand } from '../define-command.ts';
import { addMeshOption } from '../options/filter-options.ts';

export const addWatch = defineCommand({
  name: 'watch',
  description: 'follow one envelope hop by hop until it ends',
  declare: (command) => addMeshOption(command.argument('<id>', "the envelope's id")),
  help: `Example:
  asya watch $(asya send hello)

Exit status: 0 succeeded, 1 did not succeed, 2 usage error, 130 stopped with Ctrl-C.`,
  load: async () => (await import('./watch/run-watch.ts')).runWatch,
});
