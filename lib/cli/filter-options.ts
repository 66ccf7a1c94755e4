import type { Command } from 'commander';
import type { Selection } from '../app/replay/select-failures.ts';
import { defined } from '../core/text/defined.ts';
import { DURATION_RULE, durationMs } from '../core/text/duration.ts';
import { instantMs } from '../core/text/timestamp.ts';
import type { FailureFilter } from '../ports/failure-index.ts';
import { UsageError } from './usage-error.ts';

/** The options that say which failures are meant, as they were typed. */
export interface FilterOptions {
  readonly group?: string;
  readonly actor?: string;
  readonly reason?: string;
  readonly flow?: string;
  readonly since?: string;
  readonly mesh?: string;
}

export function withFilterOptions(command: Command): Command {
  return command
    .option('--group <group>', 'of one cause: the first column of `asya failures`')
    .option('--actor <actor>', 'that failed at this actor')
    .option('--reason <reason>', 'with this reason, such as PolicyExhausted or DeliveryExhausted')
    .option('--flow <flow>', 'of this flow')
    .option(
      '--since <duration>',
      'that failed within the last so long, such as 30m, 1h or 7d, or since a time',
    )
    .option('--mesh <name>', 'of this mesh, where several run here');
}

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

/** Nothing said means nothing meant: everything has to be asked for. */
export function selectionFrom(ids: readonly string[], options: SelectionOptions, now: number): Selection {
  const filter = filterFrom(options, now);
  const hasFilter = Object.keys(filter).length > 0 || options.all === true;
  if (ids.length > 0) {
    if (hasFilter) throw new UsageError('asya: envelopes by id and a filter at once; keep one');
    return { envelopeIds: ids };
  }
  if (!hasFilter) {
    throw new UsageError(
      'asya: which failures? name envelopes, or --group, --actor, --reason, --flow, --since, or --all',
    );
  }
  return { filter };
}

function sinceOption(text: string, now: number): number {
  return (
    instantMs(text) ??
    Math.max(0, now - durationOption('--since', text, ', 7d, or a time like 2026-01-01T00:00:00Z'))
  );
}

export function durationOption(name: string, text: string, also = ''): number {
  // Days are no unit of durations elsewhere, but how people think of failures.
  const days = /^(\d+)d$/.exec(text)?.[1];
  const milliseconds = days === undefined ? durationMs(text) : Number(days) * 86_400_000;
  if (milliseconds === undefined) throw new UsageError(`asya: ${name} is "${text}"; ${DURATION_RULE}${also}`);
  return milliseconds;
}

export function numberOption(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new UsageError(`asya: ${name} is "${text}"; it takes a number above 0`);
  return number;
}
