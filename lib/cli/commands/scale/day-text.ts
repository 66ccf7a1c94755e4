import type { FunctionSample, LoadResult, LoadSample } from '../../../config/load-model/load.ts';
import {
  dollarsFor,
  dollarsOf,
  PRICED_UNITS,
  PRICES,
  PRICES_DATE,
  PRICES_REGION,
} from '../../../config/scaling/prices.ts';
import { tableText } from '../../output/table.ts';
import { ageText, amountText, dollarText } from './amount-text.ts';
import { leftOf, outageText } from './days-text.ts';

export interface DayAssumptions {
  readonly outage?: string;
  readonly isTuned: boolean;
}

/** The day hour by hour, the peaks of each function, and what it costs. */
export function dayText(day: LoadResult, assumptions: DayAssumptions): string {
  return [headText(day, assumptions), hoursTable(day), peaksTable(day), costTable(day)].join('\n\n');
}

function headText(day: LoadResult, { outage, isTuned }: DayAssumptions): string {
  const copies = isTuned ? 'with the copies that are advised' : 'with the settings of the mesh';
  return `A day ${copies}, ${outageText(outage)}: ${amountText(day.total.entered)} envelopes entered, ${amountText(day.succeeded)} succeeded, ${amountText(day.failed)} failed, ${amountText(leftOf(day))} left at the end`;
}

const HOUR_SECONDS = 3_600;

function hoursTable({ samples, total }: LoadResult): string {
  const names = [...total.functions.keys()].filter((name) => (total.functions.get(name)?.backlog ?? 0) >= 1);
  return tableText<LoadSample>(
    [
      { title: 'HOUR', text: ({ fromMs }) => timeText(fromMs) },
      { title: 'ENTERED/S', text: ({ entered }) => amountText(entered / HOUR_SECONDS), align: 'right' },
      ...names.map((name) => ({
        title: `WAIT: ${name}`,
        text: ({ functions, entered }: LoadSample) =>
          backlogText(functions.get(name), entered / HOUR_SECONDS),
        align: 'right' as const,
      })),
    ],
    samples,
  );
}

/** What arrives within a second is on its way, not a backlog. */
function backlogText(sample: FunctionSample | undefined, leastAmount = 1): string {
  return sample === undefined || sample.backlog < leastAmount ? '-' : amountText(Math.round(sample.backlog));
}

function peaksTable({ total }: LoadResult): string {
  return tableText(
    [
      { title: 'FUNCTION', text: ([name]: readonly [string, FunctionSample]) => name },
      { title: 'MOST WAITING', text: ([, one]) => backlogText(one), align: 'right' },
      { title: 'AT', text: ([, one]) => (one.backlog < 1 ? '-' : timeText(one.backlogAtMs)) },
      { title: 'OLDEST', text: ([, one]) => ageText(one.oldestMs), align: 'right' },
      { title: 'MOST COPIES', text: ([, one]) => amountText(Math.ceil(one.copies)), align: 'right' },
      {
        title: 'PER INVOCATION',
        text: ([, one]) => (one.invocations === 0 ? '-' : amountText(one.deliveries / one.invocations)),
        align: 'right',
      },
    ],
    [...total.functions],
  );
}

function costTable({ usage, total }: LoadResult): string {
  const rows = PRICED_UNITS.filter((unit) => (usage[unit] ?? 0) > 0).map((unit) => ({
    name: `${PRICES[unit].service}: ${PRICES[unit].unit}`,
    amount: usage[unit] ?? 0,
    dollars: dollarsFor(unit, usage[unit] ?? 0),
  }));
  const all = dollarsOf(usage);
  const perMillion = (dollars: number) => dollarText((dollars / total.entered) * 1_000_000);
  return tableText(
    [
      { title: `COST (${PRICES_REGION}, ${PRICES_DATE})`, text: ({ name }) => name },
      { title: 'AMOUNT', text: ({ amount }) => (amount === 0 ? '' : amountText(amount)), align: 'right' },
      { title: 'DAY', text: ({ dollars }) => dollarText(dollars), align: 'right' },
      { title: 'PER MILLION', text: ({ dollars }) => perMillion(dollars), align: 'right' },
    ],
    [...rows, { name: 'total', amount: 0, dollars: all }],
  );
}

function timeText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}
