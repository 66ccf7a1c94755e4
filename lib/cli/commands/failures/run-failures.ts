import { eachFailure, selectFailures } from '../../../app/replay/select-failures.ts';
import type { Failure } from '../../../core/failure/failure.ts';
import { type FailureGroup, grouping } from '../../../core/failure/failure-groups.ts';
import { timestampText } from '../../../core/text/timestamp.ts';
import type { FailureFilter } from '../../../ports/failure-index.ts';
import { EXIT } from '../../exit-status.ts';
import { type Operator, withOperator } from '../../operator.ts';
import type { FilterOptions } from '../../options/filter-options.ts';
import { filterFrom } from '../../options/read-filter.ts';
import { failureColumns, failureJson } from '../../output/failure-output.ts';
import { jsonLineOutput, jsonListOutput, jsonOutput, oneLine } from '../../output/plain-text.ts';
import { type Column, tableText } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { agoText } from '../../output/times.ts';
import { showFailure } from './show-failure.ts';

interface OutputOptions {
  readonly json?: boolean;
  readonly payload?: boolean;
}

type Options = FilterOptions & OutputOptions;

/** `asya failures`: failures grouped by cause. */
export function runFailures(terminal: Terminal, options: Options): Promise<number> {
  const filter = filterFrom(options, terminal.now());
  return withOperator(terminal, options, (operator) => printGroups(operator, filter, options, terminal));
}

/** `asya failures list`. */
export function runFailuresList(terminal: Terminal, options: Options): Promise<number> {
  const filter = filterFrom(options, terminal.now());
  return withOperator(terminal, options, (operator) => printList(operator, filter, options, terminal));
}

/** `asya failures show`. */
export function runFailuresShow(terminal: Terminal, options: Options, id: string): Promise<number> {
  return withOperator(terminal, options, (operator) => printOne(operator, id, options, terminal));
}

async function printGroups(
  { stores }: Operator,
  filter: FailureFilter,
  options: Options,
  { print, printError, now, isInteractive }: Terminal,
): Promise<number> {
  const groups = grouping();
  const refusal = await eachFailure(filter, stores.failures, groups.add);
  if (refusal !== undefined) {
    printError(`asya: ${oneLine(refusal.problem)}`);
    return EXIT.failed;
  }
  const found = groups.groups();
  if (options.json) print(jsonListOutput(found.map((group) => jsonOutput(groupJson(group)))));
  else print(found.length === 0 ? 'no failures' : tableText(groupColumns(now()), found));
  if (isInteractive && !options.json && found.length > 0) {
    printError(
      '\nasya failures list --group GROUP lists the envelopes; asya replay --group GROUP prints what a replay would send',
    );
  }
  return EXIT.ok;
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
  filter: FailureFilter,
  options: Options,
  { print, printError, now }: Terminal,
): Promise<number> {
  const rows: Failure[] = [];
  const onFailure = options.json
    ? (failure: Failure) => print(jsonLineOutput(failureJson(failure)))
    : (failure: Failure) => rows.push(failure);
  const refusal = await eachFailure(filter, stores.failures, onFailure);
  if (refusal !== undefined) {
    printError(`asya: ${oneLine(refusal.problem)}`);
    return EXIT.failed;
  }
  const columns = failureColumns(now(), options.group === undefined);
  if (!options.json) print(rows.length === 0 ? 'no failures' : tableText(columns, rows));
  return EXIT.ok;
}

async function printOne(
  { stores }: Operator,
  id: string,
  options: OutputOptions,
  { print, printError, now }: Terminal,
): Promise<number> {
  const selected = await selectFailures({ envelopeIds: [id] }, stores.failures);
  if (!selected.ok) {
    printError(`asya: ${oneLine(selected.problem)}`);
    return EXIT.failed;
  }
  const [newest, ...earlier] = selected.failures;
  if (newest === undefined) {
    printError(
      `asya: no failure of envelope "${id}" was found; \`asya failures list --json\` prints the full ids`,
    );
    return EXIT.failed;
  }
  const shown = await showFailure(newest, earlier, stores, now(), options.payload === true);
  print(options.json ? shown.json : shown.text);
  return EXIT.ok;
}
