import type { FailureSelection } from '../../app/replay/select-failures.ts';
import type { Failure } from '../../core/failure/failure.ts';
import type { EndRecords } from '../../ports/end-records.ts';
import type { FailureIndex } from '../../ports/failure-index.ts';
import type { Refusal } from '../../ports/reply.ts';
import type { RunIndex } from '../../ports/run-index.ts';
import type { TaskStore } from '../../ports/task-store.ts';
import { oneLine } from '../output/plain-text.ts';
import { UsageError } from '../usage-error.ts';

/** As short as a prefix may be: with one or two letters, `asya replay` could send something else than was meant. */
const MIN_PREFIX = 4;
/** Candidates that an error lists. */
const MAX_LISTED = 10;
/** How many of the newest ends are searched for a prefix. */
export const MAX_READ = 20_000;

type FoundId = { readonly ok: true; readonly id: string } | Refusal;

/**
 * The full id of a failed envelope, from its id or a unique prefix of it. An id that matches nothing is returned as it
 * is. Throws a usage error that lists the candidates if the prefix is not unique.
 */
export async function failedId(typed: string, failures: FailureIndex): Promise<FoundId> {
  rejectEmpty(typed);
  const exact = await failures.ofEnvelope(typed);
  if (!exact.ok) return exact;
  if (exact.failures.length > 0 || typed.length < MIN_PREFIX) return { ok: true, id: typed };
  const found = await failedIds(typed, failures);
  return found.ok ? { ok: true, id: onlyOf(typed, found.ids) } : found;
}

/** The selection with the full ids of its envelopes, or the first refusal. */
export async function withFullIds(
  selection: FailureSelection,
  failures: FailureIndex,
): Promise<{ readonly ok: true; readonly selection: FailureSelection } | Refusal> {
  if ('filter' in selection) return { ok: true, selection };
  const envelopeIds: string[] = [];
  for (const typed of selection.envelopeIds) {
    const found = await failedId(typed, failures);
    if (!found.ok) return found;
    envelopeIds.push(found.id);
  }
  return { ok: true, selection: { envelopeIds } };
}

export interface EnvelopeStores {
  readonly records: Pick<EndRecords, 'ofEnvelope'>;
  readonly failures: FailureIndex;
  readonly tasks: Pick<TaskStore, 'get'>;
  readonly runs: RunIndex;
}

/**
 * The full id of any envelope that the stores know, as `failedId`.
 * @param others Ids that are known from elsewhere, such as a log.
 */
export async function envelopeId(
  typed: string,
  { records, failures, tasks, runs }: EnvelopeStores,
  others: Iterable<string> = [],
): Promise<FoundId> {
  rejectEmpty(typed);
  const ends = await records.ofEnvelope(typed);
  if (!ends.ok) return ends;
  const elsewhere = new Set(others);
  if (ends.records.length > 0 || elsewhere.has(typed) || typed.length < MIN_PREFIX)
    return { ok: true, id: typed };
  const task = await tasks.get(typed);
  if (!task.ok) return task;
  if (task.task !== undefined) return { ok: true, id: typed };
  const page = await runs.list({ idPrefix: typed }, { limit: 1_000, maxRead: MAX_READ });
  if (!page.ok) return page;
  // The index of failures also contains those whose end record has expired.
  const failed = await failedIds(typed, failures);
  if (!failed.ok) return failed;
  return {
    ok: true,
    id: onlyOf(typed, [
      ...page.records.map((record) => record.envelopeId),
      ...failed.ids,
      ...[...elsewhere].filter((id) => id.startsWith(typed)),
    ]),
  };
}

/** Ends a message that no envelope has this id, if it could be a prefix that was too short to be looked up. */
export function tooShortText(typed: string): string {
  return typed.length < MIN_PREFIX ? `; the start of an id needs at least ${MIN_PREFIX} characters` : '';
}

/** An unset shell variable is a common reason. */
function rejectEmpty(typed: string): void {
  if (typed === '')
    throw new UsageError('asya: the id is empty; `asya runs` lists the ids of envelopes that have ended');
}

async function failedIds(
  idPrefix: string,
  failures: FailureIndex,
): Promise<{ readonly ok: true; readonly ids: readonly string[] } | Refusal> {
  const found: Failure[] = [];
  let page = await failures.list({ idPrefix });
  for (;;) {
    if (!page.ok) return page;
    found.push(...page.failures);
    if (page.next === undefined) break;
    page = await failures.list({ idPrefix }, page.next);
  }
  return { ok: true, ids: found.map((failure) => failure.envelopeId) };
}

/** The only id, or what was typed if there is none. */
function onlyOf(typed: string, ids: readonly string[]): string {
  const [first = typed, ...others] = new Set(ids);
  if (others.length === 0) return first;
  const listed = [first, ...others].slice(0, MAX_LISTED).map((id) => `  ${oneLine(id)}`);
  const more = others.length + 1 - listed.length;
  throw new UsageError(
    [
      `asya: "${oneLine(typed, 100)}" is the start of ${others.length + 1} ids; add more characters:`,
      ...listed,
      ...(more > 0 ? [`  … and ${more} more`] : []),
    ].join('\n'),
  );
}
