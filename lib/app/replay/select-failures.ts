import type { Failure } from '../../core/failure/failure.ts';
import type { FailureFilter, FailureIndex } from '../../ports/failure-index.ts';
import type { Refusal } from '../../ports/reply.ts';

/** Which failures are meant: those of some envelopes, or those that a filter leaves. */
export type Selection = { readonly envelopeIds: readonly string[] } | { readonly filter: FailureFilter };

export type Selected =
  | { readonly ok: true; readonly failures: readonly Failure[]; readonly unknown: readonly string[] }
  | Refusal;

/**
 * A selection as it stands now, read whole before anything is done with it. It is read from the newest on, so that what
 * fails meanwhile is not swept in, whatever the clock here says. An envelope that failed more than once is there with
 * every failure, newest first.
 */
export async function selectFailures(selection: Selection, index: FailureIndex): Promise<Selected> {
  return 'filter' in selection
    ? selectByFilter(selection.filter, index)
    : selectByEnvelope(selection.envelopeIds, index);
}

async function selectByFilter(filter: FailureFilter, index: FailureIndex): Promise<Selected> {
  const failures: Failure[] = [];
  const refusal = await eachFailure(filter, index, (failure) => failures.push(failure));
  return refusal ?? { ok: true, failures, unknown: [] };
}

async function selectByEnvelope(ids: readonly string[], index: FailureIndex): Promise<Selected> {
  const failures: Failure[] = [];
  const unknown: string[] = [];
  for (const id of new Set(ids)) {
    const page = await index.ofEnvelope(id);
    if (!page.ok) return page;
    if (page.failures.length === 0) unknown.push(id);
    failures.push(...page.failures);
  }
  return { ok: true, failures, unknown };
}

/** Hands over every failure that the filter leaves, page by page. Undefined: all were seen. */
export async function eachFailure(
  filter: FailureFilter,
  index: FailureIndex,
  see: (failure: Failure) => void,
): Promise<Refusal | undefined> {
  let page = await index.list(filter);
  for (;;) {
    if (!page.ok) return page;
    page.failures.forEach(see);
    if (page.next === undefined) return undefined;
    page = await index.list(filter, page.next);
  }
}

/** One of each envelope, the newest: sent twice in one replay, its ends could not be told apart. */
export function newestOfEach(failures: readonly Failure[]): readonly Failure[] {
  const newest = new Map<string, Failure>();
  for (const failure of failures) {
    const known = newest.get(failure.envelopeId);
    if (known === undefined || failure.lastSeenMs > known.lastSeenMs) newest.set(failure.envelopeId, failure);
  }
  return [...newest.values()];
}
