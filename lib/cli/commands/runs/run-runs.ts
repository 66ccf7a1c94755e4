import type { End } from '../../../core/envelope/end.ts';
import { placeFromKey } from '../../../core/failure/archive-batch.ts';
import type { EndRecord } from '../../../core/failure/record.ts';
import { defined } from '../../../core/text/defined.ts';
import { suggestion } from '../../../core/text/nearest.ts';
import { timestampText } from '../../../core/text/timestamp.ts';
import type { RunFilter } from '../../../ports/run-index.ts';
import { EXIT } from '../../exit-status.ts';
import { type Operator, withOperator } from '../../operator.ts';
import { MAX_READ } from '../../options/find-id.ts';
import { sinceOption } from '../../options/read-filter.ts';
import { wholeNumberOption } from '../../options/read-option.ts';
import { unknownValues } from '../../options/unknown-values.ts';
import { MAX_ID } from '../../output/failure-output.ts';
import { jsonLineOutput, oneLine } from '../../output/plain-text.ts';
import { type Column, tableText } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { agoText } from '../../output/times.ts';
import { UsageError } from '../../usage-error.ts';

interface RunsOptions {
  readonly phase?: string;
  readonly flow?: string;
  readonly actor?: string;
  readonly reason?: string;
  readonly id?: string;
  readonly since?: string;
  readonly limit: string;
  readonly json?: boolean;
  readonly mesh?: string;
}

const MAX_LIMIT = 10_000;

/** `asya runs`: envelopes that have ended, newest first. */
export function runRuns(terminal: Terminal, options: RunsOptions): Promise<number> {
  const filter = runFilterFrom(options, terminal.now());
  const limit = wholeNumberOption('--limit', options.limit, MAX_LIMIT);
  return withOperator(terminal, options, (operator) => printRuns(operator, filter, limit, options, terminal));
}

function runFilterFrom(options: RunsOptions, now: number): RunFilter {
  const { phase, flow, actor, reason, id, since } = options;
  return {
    ...(phase !== undefined && { end: phaseOption(phase) }),
    ...defined({ flow, actor, reason, idPrefix: id }),
    ...(since !== undefined && { sinceMs: sinceOption(since, now) }),
  };
}

const PHASES: readonly End[] = ['succeeded', 'failed', 'canceled'];

function phaseOption(text: string): End {
  const phase = PHASES.find((one) => one === text);
  if (phase === undefined)
    throw new UsageError(
      `asya: --phase is "${text}"; expected one of ${PHASES.join(', ')}${suggestion(text, PHASES)}`,
    );
  return phase;
}

async function printRuns(
  { stores, mesh }: Operator,
  filter: RunFilter,
  limit: number,
  options: RunsOptions,
  { print, printError, now }: Terminal,
): Promise<number> {
  // A period limits the search itself. Without one, a rare value must not read every envelope of 45 days.
  const page = await stores.runs.list(filter, {
    limit,
    ...(filter.sinceMs === undefined && { maxRead: Math.max(MAX_READ, limit) }),
  });
  if (!page.ok) {
    printError(`asya: ${oneLine(page.problem)}`);
    return EXIT.failed;
  }
  const { records, next, searchedToMs } = page;
  if (options.json) for (const record of records) print(jsonLineOutput(runJson(record)));
  else print(records.length === 0 ? 'no runs' : tableText(columns(now()), records));
  if (searchedToMs !== undefined && records.length < limit)
    printError(
      `searched the newest envelopes, back to ${timestampText(searchedToMs)}; --since searches a longer period`,
    );
  else if (next !== undefined) printError(`there are more; pass a larger --limit (at most ${MAX_LIMIT})`);
  if (records.length > 0) return EXIT.ok;
  const messages = await unknownValues(options, { ...stores, ...defined({ mesh }) });
  for (const message of messages) printError(message);
  return messages.length === 0 ? EXIT.ok : EXIT.failed;
}

function columns(now: number): readonly Column<EndRecord>[] {
  return [
    { title: 'ENVELOPE', text: ({ envelopeId }) => envelopeId, most: MAX_ID },
    { title: 'ENDED', text: ({ atMs }) => agoText(atMs, now) },
    { title: 'PHASE', text: ({ end }) => end },
    { title: 'ACTOR', text: ({ actor }) => actor, most: 63 },
    { title: 'REASON', text: ({ reason }) => reason, most: 30 },
    { title: 'ATTEMPT', text: ({ attempts }) => String(attempts ?? '-'), align: 'right' },
    { title: 'FLOW', text: ({ flow }) => flow ?? '-', most: 40 },
    {
      title: '',
      text: ({ parentId, replay }) =>
        [parentId === undefined ? '' : 'child', replay === undefined ? '' : 'replay']
          .filter((word) => word !== '')
          .join(', '),
    },
  ];
}

/** With `archiveBatch`, the key is that of a member of this object. */
function placeJson(archiveKey: string) {
  const { key, batch } = placeFromKey(archiveKey);
  return { archiveKey: key, ...defined({ archiveBatch: batch }) };
}

export function runJson(record: EndRecord): Readonly<Record<string, unknown>> {
  const { envelopeId, end, actor, hop, attempts, reason, atMs, archiveKey } = record;
  const { flow, task, parentId, replay } = record;
  return {
    id: envelopeId,
    phase: end,
    actor,
    hop,
    reason,
    ended: timestampText(atMs),
    ...defined({ attempts, flow, task, parent: parentId, replay }),
    ...(archiveKey !== undefined && placeJson(archiveKey)),
  };
}
