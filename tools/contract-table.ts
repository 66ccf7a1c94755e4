import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Results of the contract suite, collected from test files and processes: one file per subject in a folder. */

/** The environment variable with the path of the folder. */
export const COLUMNS_FOLDER = 'CONTRACT_COLUMNS';

export type Verdict = 'holds' | 'BROKEN' | 'not run' | { readonly skippedBecause: string };

/** The results of one subject. */
export interface Column {
  readonly subject: string;
  /** Path of the test file, relative to the project's root. */
  readonly testFile: string;
  readonly laws: readonly (readonly [law: string, verdict: Verdict])[];
}

export function writeColumn(folder: string, column: Column): void {
  mkdirSync(folder, { recursive: true });
  const name = column.subject.replaceAll(/[^a-z0-9]+/gi, '-');
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(column));
}

export function readColumns(folder: string): readonly Column[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Column)
    .sort((one, other) => (one.subject < other.subject ? -1 : 1));
}

/** Whether every law holds, or is skipped for a reason. */
export function isFulfilled(columns: readonly Column[]): boolean {
  const verdicts = columns.flatMap(({ laws }) => laws.map(([, verdict]) => verdict));
  return (
    verdicts.length > 0 && verdicts.every((verdict) => verdict === 'holds' || typeof verdict === 'object')
  );
}

/** A table with a row per law and a column per subject, and below it the reasons for skipped laws. */
export function tableText(columns: readonly Column[]): string {
  const laws = [...new Set(columns.flatMap((column) => column.laws.map(([law]) => law)))];
  const reasons: string[] = [];
  const cell = (verdict: Verdict = 'not run'): string => {
    if (typeof verdict === 'string') return verdict;
    if (!reasons.includes(verdict.skippedBecause)) reasons.push(verdict.skippedBecause);
    return `skip [${reasons.indexOf(verdict.skippedBecause) + 1}]`;
  };
  const byLaw = columns.map((column) => new Map(column.laws));
  const head = ['law', ...columns.map(({ subject }) => subject)];
  const rows = laws.map((law) => [law, ...byLaw.map((verdicts) => cell(verdicts.get(law)))]);
  const widths = head.map((_, index) => Math.max(...[head, ...rows].map((row) => row[index]?.length ?? 0)));
  const lineOf = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  return [
    lineOf(head),
    lineOf(widths.map((width) => '-'.repeat(width))),
    ...rows.map(lineOf),
    ...reasons.map((reason, index) => `[${index + 1}] ${reason}`),
  ].join('\n');
}
