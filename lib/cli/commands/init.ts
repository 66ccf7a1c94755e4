import { defineCommand } from '../define-command.ts';

export const addInit = defineCommand({
  name: 'init',
  description: 'create a new mesh: an actor, a flow, their tests, and a package.json that depends on asya',
  declare: (command) =>
    command
      .argument('<DIR>', 'a new or empty folder')
      .option('--python', 'add a second actor and its test, in Python'),
  help: `Examples:
  asya init ../my-mesh
  asya init ../my-mesh --python

Nothing is installed; the output lists the next commands to run.
Exit status: 0 created, 1 the folder cannot be written, 2 usage error or the folder is not empty.`,
  load: async () => (await import('./init/run-init.ts')).runInit,
});
