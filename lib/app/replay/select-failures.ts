import type { Failure } from '../../core/failure/failure.ts';
import { type FailureState, failureState } from '../../core/failure/failure-state.ts';
import type { FailureFilter, FailureIndex } from '../../ports/failure-index.ts';
import type { Refusal } from '../../ports/reply.ts';

/** The failures of some envelopes, or those that match a filter. */
export type FailureSelection =
  | { readonly envelopeIds: readonly string[] }
  | {
      readonly filter: FailureFilter;
      /** Which states to select. Default: all. */
      readonly states?: readonly FailureState[];
    };

export type SelectedFailures =
  | { readonly ok: true; readonly failures: readonly Failure[]; readonly unknown: readonly string[] }
  | Refusal;

/**
 * Reads the whole selection before anything is done with it. It reads the newest failures first, so failures that are
 * added meanwhile are not included, whatever the local clock says. An envelope that failed more than once is included
 * with every failure, newest first.
 */
export async function selectFailures(
  selection: FailureSelection,
  index: FailureIndex,
): Promise<SelectedFailures> {
  return 'filter' in selection
    ? selectByFilter(selection, index)
    : selectByEnvelope(selection.envelopeIds, index);
}

async function selectByFilter(
  { filter, states }: Extract<FailureSelection, { readonly filter: FailureFilter }>,
  index: FailureIndex,
): Promise<SelectedFailures> {
  const failures: Failure[] = [];
  const refusal = await eachFailure(filter, index, (failure) => {
    if (states?.includes(failureState(failure)) ?? true) failures.push(failure);
  });
  return refusal ?? { ok: true, failures, unknown: [] };
}

async function selectByEnvelope(ids: readonly string[], index: FailureIndex): Promise<SelectedFailures> {
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

/** Calls `visit` with every failure that matches the filter, page by page. Undefined: all were read. */
export async function eachFailure(
  filter: FailureFilter,
  index: FailureIndex,
  visit: (failure: Failure) => void,
): Promise<Refusal | undefined> {
  let page = await index.list(filter);
  for (;;) {
    if (!page.ok) return page;
    page.failures.forEach(visit);
    if (page.next === undefined) return undefined;
    page = await index.list(filter, page.next);
  }
}

/** The newest failure of each envelope. If a replay sent an envelope twice, its two ends could not be distinguished. */
export function newestOfEach(failures: readonly Failure[]): readonly Failure[] {
  const newest = new Map<string, Failure>();
  for (const failure of failures) {
    const known = newest.get(failure.envelopeId);
    if (known === undefined || failure.lastSeenMs > known.lastSeenMs) newest.set(failure.envelopeId, failure);
  }
  return [...newest.values()];
}
