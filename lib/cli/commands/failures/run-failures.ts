import { eachFailure, selectFailures } from '../../../app/replay/select-failures.ts';
import type { Failure } from '../../../core/failure/failure.ts';
import { type FailureGroup, grouping } from '../../../core/failure/failure-groups.ts';
import { type FailureState, failureState } from '../../../core/failure/failure-state.ts';
import { defined } from '../../../core/text/defined.ts';
import { timestampText } from '../../../core/text/timestamp.ts';
import type { FailureFilter } from '../../../ports/failure-index.ts';
import { EXIT } from '../../exit-status.ts';
import { type Operator, withOperator } from '../../operator.ts';
import type { FilterOptions } from '../../options/filter-options.ts';
import { failedId, tooShortText } from '../../options/find-id.ts';
import { filterFrom } from '../../options/read-filter.ts';
import { unknownValues } from '../../options/unknown-values.ts';
import { failureColumns, failureJson } from '../../output/failure-output.ts';
import { jsonLineOutput, jsonListOutput, jsonOutput, oneLine } from '../../output/plain-text.ts';
import { type Column, tableText } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { agoText } from '../../output/times.ts';
import { UsageError } from '../../usage-error.ts';
import { showFailure } from './show-failure.ts';

interface OutputOptions {
  readonly json?: boolean;
  readonly all?: boolean;
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

/** Which groups are listed, and which failures. */
function statesOf({ all, resolved }: Options): readonly FailureState[] {
  if (all && resolved) throw new UsageError('asya: pass either --all or --resolved, not both');
  return all ? ['open', 'resolved', 'replayed'] : [resolved ? 'resolved' : 'open'];
}

async function printGroups(
  operator: Operator,
  filter: FailureFilter,
  options: Options,
  { print, printError, now, isInteractive }: Terminal,
): Promise<number> {
  const states = statesOf(options);
  const groups = grouping();
  const refusal = await eachFailure(filter, operator.stores.failures, groups.add);
  if (refusal !== undefined) {
    printError(`asya: ${oneLine(refusal.problem)}`);
    return EXIT.failed;
  }
  const all = groups.groups();
  const found = all.filter((group) => states.some((state) => group[state] > 0));
  if (options.json) print(jsonListOutput(found.map((group) => jsonOutput(groupJson(group)))));
  else print(found.length === 0 ? noneText(options, all) : tableText(groupColumns(now()), found));
  if (isInteractive && !options.json && found.length > 0) {
    printError(
      '\nasya failures list --group GROUP lists the envelopes; asya replay --group GROUP prints what a replay would send',
    );
  }
  return all.length === 0 ? explainNone(operator, options, printError) : EXIT.ok;
}

/** The text instead of an empty table. It mentions failures in other states. */
function noneText({ resolved: onlyResolved }: Options, groups: readonly FailureGroup[]): string {
  const total = (state: FailureState) => groups.reduce((sum, group) => sum + group[state], 0);
  if (groups.length === 0) return 'no failures';
  const others = (['open', 'resolved', 'replayed'] as const).flatMap((state) =>
    total(state) === 0 ? [] : [`${total(state)} ${state}`],
  );
  return `no ${onlyResolved ? 'resolved' : 'open'} failures (${others.join(', ')}); --all lists all of them`;
}

/** A filter that matched nothing may contain a typo. */
async function explainNone(
  { stores, mesh }: Operator,
  options: Options,
  printError: Terminal['printError'],
): Promise<number> {
  const messages = await unknownValues(options, { ...stores, ...defined({ mesh }) });
  for (const message of messages) printError(message);
  return messages.length === 0 ? EXIT.ok : EXIT.failed;
}

function groupColumns(now: number): readonly Column<FailureGroup>[] {
  return [
    { title: 'GROUP', text: ({ fingerprint }) => fingerprint },
    { title: 'OPEN', text: ({ open }) => String(open), align: 'right' },
    { title: 'RESOLVED', text: ({ resolved }) => String(resolved), align: 'right' },
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
  operator: Operator,
  filter: FailureFilter,
  options: Options,
  { print, printError, now }: Terminal,
): Promise<number> {
  const states = statesOf(options);
  const rows: Failure[] = [];
  const groups = grouping();
  const refusal = await eachFailure(filter, operator.stores.failures, (failure) => {
    groups.add(failure);
    if (!states.includes(failureState(failure))) return;
    if (options.json) print(jsonLineOutput(failureJson(failure)));
    else rows.push(failure);
  });
  if (refusal !== undefined) {
    printError(`asya: ${oneLine(refusal.problem)}`);
    return EXIT.failed;
  }
  const columns = failureColumns(now(), options.group === undefined, options.all === true);
  const all = groups.groups();
  if (!options.json) print(rows.length === 0 ? noneText(options, all) : tableText(columns, rows));
  return all.length === 0 ? explainNone(operator, options, printError) : EXIT.ok;
}

async function printOne(
  { stores }: Operator,
  id: string,
  options: OutputOptions,
  { print, printError, now }: Terminal,
): Promise<number> {
  const full = await failedId(id, stores.failures);
  const selected = full.ok ? await selectFailures({ envelopeIds: [full.id] }, stores.failures) : full;
  if (!selected.ok) {
    printError(`asya: ${oneLine(selected.problem)}`);
    return EXIT.failed;
  }
  const [newest, ...earlier] = selected.failures;
  if (newest === undefined) {
    printError(
      `asya: no failure of envelope "${id}" was found${tooShortText(id)}; \`asya failures list --json\` prints the full ids`,
    );
    return EXIT.failed;
  }
  const shown = await showFailure(newest, earlier, stores, now(), options.payload === true);
  print(options.json ? shown.json : shown.text);
  return EXIT.ok;
}
