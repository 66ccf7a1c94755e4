import type { ContestResult } from './measure.ts';

export interface Row extends Partial<ContestResult> {
  readonly group: string;
  readonly name: string;
  readonly ratio: number;
  /** Megabytes, if memory is compared instead of time. */
  readonly subjectMb?: number;
  readonly peerMb?: number;
  /** The goal: at most or at least this value. */
  readonly atMost?: number;
  readonly atLeast?: number;
  /** The unit of `ratio`, if it is not a ratio of times. */
  readonly unit?: string;
}

export function isMet({ ratio, atMost, atLeast }: Row): boolean | undefined {
  if (atMost !== undefined) return ratio <= atMost;
  return atLeast === undefined ? undefined : ratio >= atLeast;
}

const HEAD = ['what', 'case', 'ours', 'peer', 'figure', 'goal', ''];

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(cellsOf);
  const widths = HEAD.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  return [HEAD, ...cells]
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n');
}

/** The table as docs/performance.md shows it. */
export function markdownOf(rows: readonly Row[]): string {
  return [HEAD, HEAD.map(() => '---'), ...rows.map(cellsOf)]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
}

function cellsOf(row: Row): readonly string[] {
  return [
    row.group,
    row.name,
    figureOf(row.subjectUs, row.subjectMb),
    figureOf(row.peerUs, row.peerMb),
    `${ratioText(row)}${row.unit === undefined ? 'x' : ` ${row.unit}`}`,
    goalOf(row),
    { true: 'met', false: 'MISSED', undefined: '' }[String(isMet(row))] ?? '',
  ];
}

/** With as many digits as needed to see that a goal is missed. */
function ratioText(row: Row): string {
  const rounded = row.ratio.toFixed(2);
  const looksMet = isMet({ ...row, ratio: Number(rounded) }) === true;
  return looksMet && isMet(row) === false ? row.ratio.toFixed(3) : rounded;
}

function figureOf(us: number | undefined, mb: number | undefined): string {
  if (mb !== undefined) return `${mb.toFixed(1)} MB`;
  if (us === undefined) return '';
  return us < 10_000 ? `${us.toFixed(1)} us` : `${(us / 1000).toFixed(1)} ms`;
}

function goalOf({ atMost, atLeast }: Row): string {
  if (atMost !== undefined) return `<= ${atMost}`;
  return atLeast === undefined ? '' : `>= ${atLeast}`;
}
