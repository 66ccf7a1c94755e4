import type { Command } from 'commander';
import type { Terminal } from './output/terminal.ts';

/** What `commands/x.ts` declares. It imports commander and types only: `asya --help` loads every declaration. */
export interface CommandDefinition<Options extends object, Args extends readonly unknown[]> {
  readonly name: string;
  readonly description: string;
  /** Adds arguments and options. */
  readonly declare?: (command: Command) => Command;
  /** Printed below the options: examples, and the meaning of the exit status. */
  readonly help: string;
  /** Imports the implementation, `commands/x/run-x.ts`. Called when the command runs. */
  readonly load: () => Promise<RunCommand<Options, Args>>;
  readonly subcommands?: readonly AddCommand[];
}

/** Runs a command with its options and arguments. Returns the exit status. */
type RunCommand<Options extends object, Args extends readonly unknown[]> = (
  terminal: Terminal,
  options: Options,
  ...args: Args
) => number | Promise<number>;

/** Adds a command to `asya`, or a subcommand to a command. */
export type AddCommand = (parent: Command, terminal: Terminal, exit: (status: number) => void) => void;

export function defineCommand<Options extends object, Args extends readonly unknown[]>({
  name,
  description,
  declare,
  help,
  load,
  subcommands = [],
}: CommandDefinition<Options, Args>): AddCommand {
  return (parent, terminal, exit) => {
    const command = parent.command(name).description(description).addHelpText('after', `\n${help}`);
    declare?.(command);
    command.action(async () => {
      const run = await load();
      // With globals: commander assigns an option that a command shares with its subcommand to the command.
      const options = command.optsWithGlobals<Options>();
      exit(await run(terminal, options, ...(command.processedArgs as unknown as Args)));
    });
    for (const add of subcommands) add(command, terminal, exit);
  };
}
