import type { ContestResult } from './measure.ts';

export interface Row extends Partial<ContestResult> {
  readonly group: string;
  readonly name: string;
  readonly ratio: number;
  /** The goal: no more than this, or no less. */
  readonly atMost?: number;
  readonly atLeast?: number;
  /** What the figure is, where it is no ratio of times. */
  readonly unit?: string;
}

export function isMet({ ratio, atMost, atLeast }: Row): boolean | undefined {
  if (atMost !== undefined) return ratio <= atMost;
  return atLeast === undefined ? undefined : ratio >= atLeast;
}

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.group,
    row.name,
    row.subjectUs === undefined ? '' : `${row.subjectUs.toFixed(1)} us`,
    row.peerUs === undefined ? '' : `${row.peerUs.toFixed(1)} us`,
    row.unit === undefined ? `${row.ratio.toFixed(2)}x` : `${row.ratio.toFixed(2)} ${row.unit}`,
    goalOf(row),
    { true: 'met', false: 'MISSED', undefined: '' }[String(isMet(row))] ?? '',
  ]);
  const head = ['what', 'case', 'ours', 'peer', 'figure', 'goal', ''];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  return [head, ...cells]
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n');
}

function goalOf({ atMost, atLeast }: Row): string {
  if (atMost !== undefined) return `<= ${atMost}`;
  return atLeast === undefined ? '' : `>= ${atLeast}`;
}
