import wrapAnsi from 'wrap-ansi';
import { oneLine } from '../lib/cli/output/plain-text.ts';
import { tableText } from '../lib/cli/output/table.ts';

/** The outcome of one flow of the demo. */
export interface DemoRow {
  readonly name: string;
  readonly expected: string;
  readonly actual: string;
  readonly explanation: string;
}

/** No line of the demo is wider. */
export const MAX_COLUMNS = 100;
const MAX_NAME = 20;
const MAX_OUTCOME = 41;
const GAPS = 6;

export const isAsExpected = ({ expected, actual }: DemoRow) => expected === actual;

/** One row per flow. Shows expected and actual outcome separately only if they differ. Long cells are wrapped. */
export function demoTable(rows: readonly DemoRow[]): string {
  const markWidth = rows.every(isAsExpected) ? 'ok'.length : 'DIFFERS'.length;
  const nameWidth = Math.min(MAX_NAME, Math.max(0, ...rows.map(({ name }) => name.length)));
  const lines = rows.flatMap((row) => {
    const outcome = wrapped(outcomeText(row), MAX_OUTCOME);
    const explanation = wrapped(row.explanation, MAX_COLUMNS - GAPS - markWidth - nameWidth - MAX_OUTCOME);
    return Array.from({ length: Math.max(outcome.length, explanation.length) }, (_, at) => ({
      mark: at > 0 ? '' : isAsExpected(row) ? 'ok' : 'DIFFERS',
      name: at > 0 ? '' : row.name,
      outcome: outcome[at] ?? '',
      explanation: explanation[at] ?? '',
    }));
  });
  return tableText<(typeof lines)[number]>(
    [
      { title: '', text: ({ mark }) => mark },
      { title: 'FLOW', text: ({ name }) => name, most: MAX_NAME },
      { title: 'OUTCOME', text: ({ outcome }) => outcome },
      { title: 'EXPLANATION', text: ({ explanation }) => explanation },
    ],
    lines,
  );
}

function outcomeText(row: DemoRow): string {
  return isAsExpected(row) ? row.actual : `expected ${row.expected}\nactual ${row.actual || 'none'}`;
}

function wrapped(text: string, width: number): readonly string[] {
  return wrapAnsi(text, width, { hard: true }).split('\n');
}

/** A line about the progress, with the seconds since the start. */
export function progressLine(text: string, elapsedMs: number): string {
  const seconds = `${(elapsedMs / 1000).toFixed(1).padStart(5)} s  `;
  return seconds + oneLine(text, MAX_COLUMNS - seconds.length);
}
