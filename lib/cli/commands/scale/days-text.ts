import { type FunctionSample, type LoadResult, STORES } from '../../../config/load-model/load.ts';
import { dollarsOf, PRICES_DATE, PRICES_REGION } from '../../../config/scaling/prices.ts';
import { tableText } from '../../output/table.ts';
import { ageText, amountText, dollarText } from './amount-text.ts';
import type { RateReport } from './limits-text.ts';

/** What fails during the day. */
export function outageText(outage: string | undefined): string {
  if (outage === undefined) return 'no outage';
  return `${outage === STORES ? 'the stores fail' : `every call of ${outage} fails`} from 14:00 to 15:00`;
}

/** A day at each rate, in a line. */
export function daysText(rates: readonly RateReport[], outage: string | undefined): string {
  const most = ({ day }: RateReport, value: (one: FunctionSample) => number) =>
    Math.max(...[...day.total.functions.values()].map(value));
  const table = tableText<RateReport>(
    [
      { title: 'RATE', text: ({ rate }) => amountText(rate), align: 'right' },
      { title: 'ENVELOPES', text: ({ day }) => amountText(day.total.entered), align: 'right' },
      {
        title: 'MOST WAITING',
        text: (one) => amountText(Math.round(most(one, (at) => at.backlog))),
        align: 'right',
      },
      { title: 'OLDEST', text: (one) => ageText(most(one, (at) => at.oldestMs)), align: 'right' },
      { title: 'LEFT', text: ({ day }) => amountText(leftOf(day)), align: 'right' },
      { title: 'FAILED', text: ({ day }) => amountText(day.failed), align: 'right' },
      { title: 'COST', text: ({ day }) => dollarText(dollarsOf(day.usage)), align: 'right' },
      {
        title: 'PER MILLION',
        text: ({ day }) => dollarText((dollarsOf(day.usage) / day.total.entered) * 1_000_000),
        align: 'right',
      },
    ],
    rates,
  );
  return `A day with the copies that are advised, ${outageText(outage)} (prices of ${PRICES_REGION}, ${PRICES_DATE})\n\n${table}`;
}

/** Envelopes that have not ended by the end of the day. */
export function leftOf({ total, succeeded, failed }: LoadResult): number {
  return Math.max(0, Math.round(total.entered - succeeded - failed));
}
