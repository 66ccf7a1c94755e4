import { defineCommand } from '../define-command.ts';

export const addValidate = defineCommand({
  name: 'validate',
  description: "check a mesh's AsyncActor documents and flows.yaml, and report every mistake at once",
  declare: (command) =>
    command.argument('[DIR]', "the mesh's folder", '.').option('--json', 'print one JSON document'),
  help: `Example:
  asya validate examples/my-mesh

docs/manifest.md lists every field.
Exit status: 0 valid (warnings are allowed), 2 usage error or invalid mesh.`,
  load: async () => (await import('./validate/run-validate.ts')).runValidate,
});
