import stringWidth from 'string-width';
import { oneLine } from './plain-text.ts';

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly align?: 'right';
  /** Longer text is cut to this width and ends with an ellipsis. */
  readonly most?: number;
}

/** Columns are as wide as their widest cell, with two spaces between them. */
export function tableText<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ text, most }) => oneLine(text(row), most))),
  ];
  const widths = columns.map((_, at) =>
    cells.reduce((widest, line) => Math.max(widest, stringWidth(line[at] ?? '')), 0),
  );
  return cells
    .map((line) =>
      line
        .map((cell, at) => padded(cell, widths[at] ?? 0, columns[at]?.align))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function padded(cell: string, width: number, align: 'right' | undefined): string {
  const blank = ' '.repeat(Math.max(0, width - stringWidth(cell)));
  return align === 'right' ? blank + cell : cell + blank;
}
