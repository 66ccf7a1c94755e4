import { defineCommand } from '../define-command.ts';
import { addMeshOption } from '../options/filter-options.ts';

export const addWatch = defineCommand({
  name: 'watch',
  description: 'follow one envelope and its fan-out children until all have ended',
  declare: (command) =>
    addMeshOption(command.argument('<id>', "the envelope's id, or a unique prefix of it")),
  help: `Example:
  asya watch $(asya send hello)

Prints the hops as they are logged (for a mesh on this machine), then the tree: each envelope with its state, actor,
attempt and error.
Exit status: 0 all succeeded, 1 some did not succeed, 2 usage error, 130 stopped with Ctrl-C.`,
  load: async () => (await import('./watch/run-watch.ts')).runWatch,
});
