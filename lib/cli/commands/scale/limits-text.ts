import type { LoadResult } from '../../../config/load-model/load.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Limit } from '../../../config/scaling/limit.ts';
import type { ScalingReport } from '../../../config/scaling/scaling-report.ts';
import type { Workload } from '../../../config/scaling/workload.ts';
import { countText } from '../../output/count-text.ts';
import { tableText } from '../../output/table.ts';
import { spanText } from '../../output/times.ts';
import { amountText, percentText } from './amount-text.ts';

/** What was assumed. */
export function workloadText({ actors, flows }: Manifest, workload: Workload): string {
  const { callMs, envelopeBytes, failedShare, trackedShare, callers } = workload;
  const durations = new Set(actors.map(({ name }) => callMs(name)));
  const calls =
    durations.size === 1
      ? `calls take ${spanText([...durations][0] ?? 0)}`
      : `calls take ${actors.map(({ name }) => `${spanText(callMs(name))} (${name})`).join(', ')}`;
  const tracked =
    trackedShare === 0
      ? 'no tasks'
      : `${percentText(trackedShare)} are tasks of ${countText(callers, 'caller')}`;
  return `${countText(actors.length, 'actor')}, ${countText(flows.length, 'flow')}; ${calls}; envelopes of ${amountText(envelopeBytes)} bytes, ${percentText(failedShare)} fail, ${tracked}`;
}

/** The limits at a rate, and a day. */
export interface RateReport {
  readonly rate: number;
  readonly report: ScalingReport;
  readonly day: LoadResult;
}

/** One block per rate: the first limit, what to set, and where the next limit is after that. */
export function ratesText(reports: readonly RateReport[]): string {
  return reports.map(rateText).join('\n\n');
}

function rateText({ rate, report: { limits, exceeded, hard } }: RateReport): string {
  const [first] = limits;
  const lines =
    exceeded.length === 0 && first !== undefined
      ? [`  within all limits; the first: ${firstText(first)}`]
      : [
          ...(exceeded[0] === undefined ? [] : [`  first limit: ${firstText(exceeded[0])}`]),
          ...adviceLines(exceeded).map((line) => `  ${line}`),
        ];
  return [`${amountText(rate)} envelopes per second`, ...lines, hardText(rate, hard)].join('\n');
}

function hardText(rate: number, { limit: { resource }, rate: reached }: ScalingReport['hard']): string {
  const where = `${amountText(reached)} per second: ${resource}`;
  return rate > reached
    ? `  one deployment reaches at most ${where}`
    : `  settings can raise this to ${where}`;
}

function firstText({ resource, limit, unit, maxRate }: Limit): string {
  return `${resource}, ${amountText(limit)} ${unit}, reached at ${amountText(maxRate)} per second`;
}

/** The advice for every exceeded limit. Actors with the same advice share a line. */
function adviceLines(exceeded: readonly Limit[]): readonly string[] {
  const actors = new Map<string, string[]>();
  for (const { advice, actor } of exceeded)
    actors.set(advice, [...(actors.get(advice) ?? []), ...(actor === undefined ? [] : [actor])]);
  return [...actors].map(([advice, names]) =>
    names.length === 0 ? advice : `${advice} (${names.join(', ')})`,
  );
}

/** Limits that are used less than this are only counted. */
const LEAST_USED = 0.01;

/** The limits at one rate. */
export function limitsText(one: RateReport): string {
  const { limits } = one.report;
  const used = limits.filter(({ needed, limit }) => needed / limit >= LEAST_USED);
  const table = tableText<Limit>(
    [
      { title: 'LIMIT', text: ({ resource }) => resource },
      { title: 'NEEDED', text: ({ needed }) => amountText(needed), align: 'right' },
      { title: 'OF', text: ({ limit }) => amountText(limit), align: 'right' },
      { title: 'UNIT', text: ({ unit }) => unit },
      { title: 'USED', text: ({ needed, limit }) => percentText(needed / limit), align: 'right' },
      { title: 'REACHED AT', text: ({ maxRate }) => amountText(maxRate), align: 'right' },
    ],
    used,
  );
  const others = limits.length - used.length;
  const rest =
    others === 0
      ? ''
      : `\nand ${countText(others, 'limit')} of which less than ${percentText(LEAST_USED)} is used`;
  return `${rateText(one)}\n\n${table}${rest}`;
}
