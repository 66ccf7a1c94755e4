import type { Command } from 'commander';
import { eachFailure, selectFailures } from '../../app/replay/select-failures.ts';
import type { Failure } from '../../core/failure/failure.ts';
import { type FailureGroup, grouping } from '../../core/failure/failure-groups.ts';
import { timestampText } from '../../core/text/timestamp.ts';
import { EXIT } from '../exit.ts';
import { type FilterOptions, filterFrom, withFilterOptions } from '../filter-options.ts';
import { type Operator, withOperator } from '../operator.ts';
import { failureColumns, failureJson } from '../output/failure-output.ts';
import { jsonLineOutput, jsonListOutput, jsonOutput, oneLine } from '../output/plain-text.ts';
import { type Column, tableText } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { agoText } from '../output/times.ts';
import { UsageError } from '../usage-error.ts';
import { showFailure } from './failures/show-failure.ts';

interface OutputOptions {
  readonly json?: boolean;
  readonly payload?: boolean;
}

/** `asya failures`, `asya failures list`, `asya failures show`. */
export function addFailures(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  const failures = withFilterOptions(program.command('failures'))
    .description('what failed, grouped by cause, newest first')
    .option('--json', 'for scripts')
    .addHelpText(
      'after',
      `
Examples:
  asya failures                                  groups, newest first
  asya failures list --group 3fa9c1d2e4b5        the envelopes of one group
  asya failures show 7f0c2b                      one envelope: where, why, and what decided

Where: the mesh that runs on this machine, or the one that ASYA_FAILURE_TABLE and ASYA_ARCHIVE_BUCKET name.
Exit status: 0 fine, 1 not found or something outside failed, 2 called wrongly.`,
    )
    .allowExcessArguments()
    .action(async (options: FilterOptions & OutputOptions, { args }: Command) => {
      if (args[0] !== undefined) {
        throw new UsageError(
          `asya: "${oneLine(args[0])}" is no command of asya failures; there are list and show: asya failures show ID shows one envelope`,
        );
      }
      exit(await withOperator(terminal, options, (operator) => printGroups(operator, options, terminal)));
    });
  withFilterOptions(failures.command('list'))
    .description('failed envelopes, newest first, each with its group')
    .addHelpText(
      'after',
      '\nExample:\n  asya failures list --actor score --reason PolicyExhausted --since 1h --json',
    )
    .option('--json', 'for scripts: one JSON object a line')
    .action(async (_: unknown, command: Command) => {
      const options = command.optsWithGlobals<FilterOptions & OutputOptions>();
      exit(await withOperator(terminal, options, (operator) => printList(operator, options, terminal)));
    });
  failures
    .command('show')
    .argument('<id>', "the envelope's id")
    .description('one failed envelope: its route, times, what decided, the error, its replays')
    .addHelpText('after', '\nExample:\n  asya failures show 7f0c2b --payload')
    .option('--payload', 'prints the payload too')
    .option('--json', 'for scripts')
    .option('--mesh <name>', 'of this mesh, where several run here')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<FilterOptions & OutputOptions>();
      exit(await withOperator(terminal, options, (operator) => printOne(operator, id, options, terminal)));
    });
}

async function printGroups(
  { stores }: Operator,
  options: FilterOptions & OutputOptions,
  { print, say, now, isInteractive }: Terminal,
): Promise<number> {
  const groups = grouping();
  const refusal = await eachFailure(filterFrom(options, now()), stores.failures, groups.add);
  if (refusal !== undefined) {
    say(`asya: ${oneLine(refusal.problem)}`);
    return EXIT.failed;
  }
  const found = groups.groups();
  if (options.json) print(jsonListOutput(found.map((group) => jsonOutput(groupJson(group)))));
  else print(found.length === 0 ? 'no failures' : tableText(groupColumns(now()), found));
  if (isInteractive && !options.json && found.length > 0) {
    say(
      '\nasya failures list --group GROUP tells the envelopes, asya replay --group GROUP what a replay would send',
    );
  }
  return EXIT.fine;
}

function groupColumns(now: number): readonly Column<FailureGroup>[] {
  return [
    { title: 'GROUP', text: ({ fingerprint }) => fingerprint },
    { title: 'COUNT', text: ({ count }) => String(count), align: 'right' },
    { title: 'REPLAYED', text: ({ replayed }) => String(replayed), align: 'right' },
    { title: 'LAST', text: ({ lastSeenMs }) => agoText(lastSeenMs, now) },
    { title: 'ACTOR', text: ({ actor }) => actor, most: 63 },
    { title: 'REASON', text: ({ reasons }) => reasons.join(','), most: 40 },
    { title: 'ERROR', text: ({ errorType, errorMessage }) => `${errorType}: ${errorMessage}`, most: 80 },
  ];
}

function groupJson(found: FailureGroup): Readonly<Record<string, unknown>> {
  const { firstSeenMs, lastSeenMs, fingerprint, ...group } = found;
  return {
    group: fingerprint,
    ...group,
    firstSeen: timestampText(firstSeenMs),
    lastSeen: timestampText(lastSeenMs),
  };
}

async function printList(
  { stores }: Operator,
  options: FilterOptions & OutputOptions,
  { print, say, now }: Terminal,
): Promise<number> {
  const rows: Failure[] = [];
  const see = options.json
    ? (failure: Failure) => print(jsonLineOutput(failureJson(failure)))
    : (failure: Failure) => rows.push(failure);
  const refusal = await eachFailure(filterFrom(options, now()), stores.failures, see);
  if (refusal !== undefined) {
    say(`asya: ${oneLine(refusal.problem)}`);
    return EXIT.failed;
  }
  const columns = failureColumns(now(), options.group === undefined);
  if (!options.json) print(rows.length === 0 ? 'no failures' : tableText(columns, rows));
  return EXIT.fine;
}

async function printOne(
  { stores }: Operator,
  id: string,
  options: OutputOptions,
  { print, say, now }: Terminal,
): Promise<number> {
  const selected = await selectFailures({ envelopeIds: [id] }, stores.failures);
  if (!selected.ok) {
    say(`asya: ${oneLine(selected.problem)}`);
    return EXIT.failed;
  }
  const [newest, ...earlier] = selected.failures;
  if (newest === undefined) {
    say(`asya: no failure of an envelope "${id}"; \`asya failures list --json\` tells the ids whole`);
    return EXIT.failed;
  }
  const shown = await showFailure(newest, earlier, stores, now(), options.payload === true);
  print(options.json ? shown.json : shown.text);
  return EXIT.fine;
}
