import { defineCommand } from '../define-command.ts';
import { addMeshOption } from '../options/filter-options.ts';

export const addEnv = defineCommand({
  name: 'env',
  description: "show which environment variables an actor's handler gets, and where they come from",
  declare: (command) =>
    addMeshOption(
      command
        .argument('<ACTOR>', 'an actor of the mesh')
        .argument('[DIR]', "the mesh's folder (default: that of the running mesh, or the current directory)"),
    )
      .option('--host <host>', 'local, lambda, worker or cloud-run, with values (default: compare all)')
      .option('--json', 'print one JSON document'),
  help: `Examples:
  asya env score my-mesh
  asya env score my-mesh --host lambda

Values of secrets are not printed. See docs/secrets.md.
Exit status: 0 ok, also if a secret has no value; 2 usage error or invalid mesh.`,
  load: async () => (await import('./env/run-env.ts')).runEnv,
});
