import type { Command } from 'commander';
import type { Terminal } from '../output/terminal.ts';

export function addValidate(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  program
    .command('validate')
    .description(
      "reads the AsyncActor documents and flows.yaml of a mesh's folder, and tells every mistake at once",
    )
    .argument('[DIR]', "the mesh's folder", '.')
    .option('--json', 'one JSON document instead of words, for scripts')
    .addHelpText(
      'after',
      `
Example:
  asya validate examples/my-mesh

docs/manifest.md lists every field. Exit status: 0 fine, warnings included, 2 a mistake in the mesh.`,
    )
    .action(async (folder: string, { json = false }: { readonly json?: boolean }) => {
      const { runValidate } = await import('./validate/run-validate.ts');
      exit(runValidate({ folder, isJson: json, write: terminal.print, complain: terminal.say }));
    });
}
