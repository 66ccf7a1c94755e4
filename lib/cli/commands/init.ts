import type { Command } from 'commander';
import type { Terminal } from '../output/terminal.ts';

export function addInit(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  program
    .command('init')
    .description('makes a new mesh from a template: an actor, a flow, and a package.json that brings asya')
    .argument('<DIR>', 'a folder that is new or empty')
    .option('--python', 'with a second actor, in Python')
    .addHelpText(
      'after',
      `
Examples:
  asya init ../my-mesh
  asya init ../my-mesh --python

Nothing is installed by itself: it tells what to do next. Exit status: 0 made, 1 the folder cannot be written, 2 it is
not empty.`,
    )
    .action(async (folder: string, { python = false }: { readonly python?: boolean }) => {
      const { runInit } = await import('./init/run-init.ts');
      const { cwd, print, say } = terminal;
      exit(runInit({ folder, cwd, isPython: python, write: print, complain: say }));
    });
}
