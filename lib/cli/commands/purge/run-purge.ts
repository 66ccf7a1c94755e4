import { type FailureSelection, selectFailures } from '../../../app/replay/select-failures.ts';
import { defined } from '../../../core/text/defined.ts';
import { EXIT } from '../../exit-status.ts';
import { type Operator, withOperator } from '../../operator.ts';
import { withFullIds } from '../../options/find-id.ts';
import { type SelectionOptions, selectionFrom } from '../../options/read-filter.ts';
import { unknownValues } from '../../options/unknown-values.ts';
import { oneLine } from '../../output/plain-text.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';

interface PurgeOptions extends SelectionOptions {
  readonly archive?: boolean;
  readonly yes?: boolean;
}

/** `asya purge`: removes failures from the index. */
export function runPurge(terminal: Terminal, options: PurgeOptions, ids: readonly string[]): Promise<number> {
  const selection = selectionFrom(ids, options, terminal.now());
  return withOperator(terminal, options, (operator) => purge(selection, options, operator, terminal));
}

async function purge(
  selection: FailureSelection,
  options: PurgeOptions,
  { stores, mesh }: Operator,
  terminal: Terminal,
): Promise<number> {
  const { printError } = terminal;
  const fail = (problem: string): number => {
    printError(`asya: ${oneLine(problem)}`);
    return EXIT.failed;
  };
  const named = await withFullIds(selection, stores.failures);
  const selected = named.ok ? await selectFailures(named.selection, stores.failures) : named;
  if (!selected.ok) return fail(selected.problem);
  const { failures, unknown } = selected;
  if (unknown.length > 0)
    return fail(`no failures found for ${unknown.map((id) => `"${id}"`).join(', ')}; nothing was purged`);
  if (failures.length === 0) {
    for (const message of await unknownValues(options, { ...stores, ...defined({ mesh }) }))
      printError(message);
    return fail('no failures match; nothing was purged');
  }
  const what = `${failures.length} ${failures.length === 1 ? 'failure' : 'failures'}${options.archive ? ' and the archived envelopes' : ''}`;
  if (options.yes !== true) {
    const unreplayed = failures.filter(({ replays }) => replays.length === 0).length;
    const summary = `${what}${unreplayed === 0 ? '' : ` (${unreplayed} never replayed)`}`;
    if (!terminal.isInteractive)
      throw new UsageError(`asya: this would purge ${summary}; pass --yes when not running interactively`);
    if (!(await terminal.confirm(`Purge ${summary}? They cannot be replayed after that.`)))
      return fail('nothing was purged');
  }
  let done = 0;
  for (const { identity, archiveKey } of failures) {
    const archived = options.archive ? await stores.archive.remove(archiveKey) : ({ ok: true } as const);
    const reply = archived.ok ? await stores.failures.remove(identity) : archived;
    if (!reply.ok) return fail(`${reply.problem}; ${done} of ${failures.length} were purged`);
    done++;
    if (done % 1000 === 0) printError(`purged ${done} of ${failures.length}`);
  }
  printError(`purged ${what}`);
  return EXIT.ok;
}
