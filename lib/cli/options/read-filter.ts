import type { FailureSelection } from '../../app/replay/select-failures.ts';
import { defined } from '../../core/text/defined.ts';
import { instantMs } from '../../core/text/timestamp.ts';
import type { FailureFilter } from '../../ports/failure-index.ts';
import { UsageError } from '../usage-error.ts';
import type { FilterOptions } from './filter-options.ts';
import { durationOption } from './read-option.ts';

export function filterFrom(options: FilterOptions, now: number): FailureFilter {
  const { group, actor, reason, flow, since } = options;
  return {
    ...defined({ group, actor, reason, flow }),
    ...(since !== undefined && { sinceMs: sinceOption(since, now) }),
  };
}

export interface SelectionOptions extends FilterOptions {
  readonly all?: boolean;
}

/** The failures that ids or filter options select. Without either, `--all` is required. */
export function selectionFrom(
  ids: readonly string[],
  options: SelectionOptions,
  now: number,
): FailureSelection {
  const filter = filterFrom(options, now);
  const { all = false, resolved = false } = options;
  const hasFilter = Object.keys(filter).length > 0 || all || resolved;
  if (ids.length > 0) {
    if (hasFilter) throw new UsageError('asya: pass either ids or a filter, not both');
    return { envelopeIds: ids };
  }
  if (!hasFilter) {
    throw new UsageError(
      'asya: no failures selected; pass ids, a filter (--group, --actor, --reason, --flow, --since) or --all',
    );
  }
  return { filter, ...(resolved && { states: ['resolved'] }) };
}

/** The time that `--since` means: a time, or now minus a period. */
export function sinceOption(text: string, now: number): number {
  return (
    instantMs(text) ??
    Math.max(
      0,
      now -
        durationOption(
          '--since',
          text,
          '; also valid: days such as "7d", or a time such as "2026-01-01T00:00:00Z"',
        ),
    )
  );
}
