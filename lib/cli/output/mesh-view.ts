import type { QueueDepths } from '../../adapters/sqs/queue-depths.ts';
import type { LogLine } from '../../local/mesh/log-line.ts';
import { colors as pc } from './colors.ts';
import { lineText, screenRows } from './log-text.ts';
import { envelopeCounts, tableLines } from './mesh-table.ts';
import { cutTo, oneLine, plainLines, wrapTo } from './plain-text.ts';

/** The output of `asya dev`. */
export interface MeshView {
  line(line: LogLine): void;
  warn(text: string): void;
  note(text: string): void;
  /** Shows a line as long as the mesh runs. */
  pin(text: string): void;
  /** Called once a second with the queue depths, in the order of the rows. */
  depths(depths: ReadonlyMap<string, QueueDepths | undefined>): void;
  /** Why an actor's handler cannot be loaded. `undefined`: it can. */
  problem(actor: string, problem: string | undefined): void;
  /** The size of the window has changed. */
  resized(): void;
  end(): void;
}

/** More lines than any window has. */
const RECENT_LINES = 500;
/** The table is shortened to keep this many recent lines visible: warnings appear only there. */
const MIN_RECENT_LINES = 6;

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** The rows of one recent line at this width. */
type RowsIn = (columns: number) => readonly string[];

/** A live view that redraws itself in place: the queues in a table, and below it as many recent lines as fit. */
export function screenView(
  title: string,
  hint: string,
  write: (text: string) => void,
  size: () => ScreenSize,
): MeshView {
  const counts = envelopeCounts();
  const problems = new Map<string, string>();
  const recent: RowsIn[] = [];
  const pinned: string[] = [];
  let queues: ReadonlyMap<string, QueueDepths | undefined> = new Map();
  let drawn: (ScreenSize & { readonly lines: number }) | undefined;

  function draw(): void {
    const { columns, rows } = size();
    // Some terminals wrap as soon as the last column is written, so it stays empty.
    const lines = fitLines(columns - 1, rows - 1);
    write(`${moveToTop({ columns, rows })}${lines.join('\n')}\n`);
    drawn = { columns, rows, lines: lines.length };
  }

  /** After a resize the terminal has wrapped the old lines differently, so the whole screen is cleared. */
  function moveToTop({ columns, rows }: ScreenSize): string {
    if (drawn === undefined) return '';
    const isSame = drawn.columns === columns && drawn.rows === rows;
    // The carriage return matters: an echoed ^C has moved the cursor to the right.
    return isSame ? `\r\x1b[${drawn.lines}A\x1b[0J` : '\x1b[H\x1b[2J';
  }

  /** Lines beyond the screen's height cannot be redrawn: recent lines are dropped first, then the end of the table. */
  function fitLines(columns: number, height: number): readonly string[] {
    const bottom = ['', ...pinned, pc.dim(hint)];
    const fixedRows = 1 + 1 + 1 + bottom.length;
    const recentRows = lastRows(columns, height);
    const most = height - fixedRows - Math.min(recentRows.length, MIN_RECENT_LINES);
    const table = tableLines(tableRows(), columns, most);
    const freeRows = Math.max(0, height - fixedRows - table.length);
    const lines = [
      pc.bold(title),
      '',
      ...table,
      '',
      ...(freeRows === 0 ? [] : recentRows.slice(-freeRows)),
      ...bottom,
    ];
    return lines.slice(0, Math.max(0, height)).map((line) => cutTo(line, columns));
  }

  /** The newest recent lines: at least as many rows as fit. */
  function lastRows(columns: number, height: number): readonly string[] {
    const rows: string[] = [];
    for (let at = recent.length - 1; at >= 0 && rows.length < height; at--)
      rows.unshift(...(recent[at]?.(columns) ?? []));
    return rows;
  }

  function tableRows() {
    return Array.from(queues, ([actor, depths]) => ({
      actor,
      depths,
      ...counts.of(actor),
      problem: problems.get(actor),
    }));
  }

  function push(rowsIn: RowsIn): void {
    recent.push(rowsIn);
    recent.splice(0, recent.length - RECENT_LINES);
  }

  return {
    line: (line) => {
      counts.add(line);
      if (lineText(line) !== undefined) push((columns) => screenRows(line, columns));
    },
    // Wrapped instead of cut: the end of a warning says what to do.
    warn: (warning) => {
      push((columns) =>
        plainLines(`! ${warning}`).flatMap((line) => wrapTo(line, columns).map((part) => pc.yellow(part))),
      );
      draw();
    },
    note: (text) => {
      push((columns) => wrapTo(oneLine(text), columns));
      draw();
    },
    pin: (text) => {
      pinned.push(oneLine(text));
      draw();
    },
    depths: (depths) => {
      queues = depths;
      draw();
    },
    problem: (actor, problem) => {
      if (problem === undefined) problems.delete(actor);
      else problems.set(actor, problem);
    },
    resized: draw,
    end: () => {},
  };
}

/** One line per event, for logs and pipes. */
export function plainView(print: (text: string) => void): MeshView {
  return {
    line: (line) => {
      const text = lineText(line);
      if (text !== undefined) print(text);
    },
    warn: (text) => print(`! ${text}`),
    note: print,
    pin: print,
    depths: () => {},
    problem: () => {},
    resized: () => {},
    end: () => {},
  };
}
