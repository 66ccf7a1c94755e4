import type { Command } from 'commander';
import { type Selection, selectFailures } from '../../app/replay/select-failures.ts';
import { EXIT } from '../exit.ts';
import { type SelectionOptions, selectionFrom, withFilterOptions } from '../filter-options.ts';
import { type Operator, withOperator } from '../operator.ts';
import { oneLine } from '../output/plain-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';

interface PurgeCommand extends SelectionOptions {
  readonly archive?: boolean;
  readonly yes?: boolean;
}

/** `asya purge`: failures that nobody needs any more leave the index. */
export function addPurge(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  withFilterOptions(program.command('purge').argument('[ids...]', 'envelopes'))
    .description('takes failures out of the index, for good; it asks first')
    .option('--all', 'everything in the index')
    .option('--archive', 'deletes the kept envelopes too; without it they stay in the archive')
    .option('--yes', 'does not ask')
    .addHelpText(
      'after',
      `
Examples:
  asya purge --group 3fa9c1d2e4b5
  asya purge --actor score --reason Timeout --yes

Exit status: 0 done, 1 something outside failed, nothing was found or you said no, 2 called wrongly.`,
    )
    .action(async (ids: readonly string[], options: PurgeCommand) => {
      const selection = selectionFrom(ids, options, terminal.now());
      exit(
        await withOperator(terminal, options, (operator) => purge(selection, options, operator, terminal)),
      );
    });
}

async function purge(
  selection: Selection,
  options: PurgeCommand,
  { stores }: Operator,
  terminal: Terminal,
): Promise<number> {
  const { say } = terminal;
  const fail = (words: string): number => {
    say(`asya: ${oneLine(words)}`);
    return EXIT.failed;
  };
  const selected = await selectFailures(selection, stores.failures);
  if (!selected.ok) return fail(selected.problem);
  const { failures, unknown } = selected;
  if (unknown.length > 0)
    return fail(`no failure of ${unknown.map((id) => `"${id}"`).join(', ')}; nothing was purged`);
  if (failures.length === 0) return fail('no failure is meant by that; nothing was purged');
  const what = `${failures.length} ${failures.length === 1 ? 'failure' : 'failures'}${options.archive ? ' and the kept envelopes' : ''}`;
  if (options.yes !== true) {
    const unreplayed = failures.filter(({ replays }) => replays.length === 0).length;
    const warned = `${what}${unreplayed === 0 ? '' : `, ${unreplayed} of them never replayed`}`;
    if (!terminal.isInteractive)
      throw new UsageError(`asya: this would purge ${warned}; say --yes where nobody can be asked`);
    if (!(await terminal.confirm(`Purge ${warned}? There is no replay after that.`)))
      return fail('nothing was purged');
  }
  let done = 0;
  for (const { identity, archiveKey } of failures) {
    const kept = options.archive ? await stores.archive.remove(archiveKey) : ({ ok: true } as const);
    const reply = kept.ok ? await stores.failures.remove(identity) : kept;
    if (!reply.ok) return fail(`${reply.problem}; ${done} of ${failures.length} were purged`);
    done++;
    if (done % 1000 === 0) say(`purged ${done} of ${failures.length}`);
  }
  say(`purged ${what}`);
  return EXIT.fine;
}
