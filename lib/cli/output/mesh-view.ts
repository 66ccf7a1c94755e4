import type { QueueDepths } from '../../adapters/sqs/queue-depths.ts';
import type { LogLine } from '../../local/mesh/log-line.ts';
import { colors as pc } from './colors.ts';
import { cutTo, oneLine, plainLines, wrapTo } from './plain-text.ts';
import { type Column, tableText } from './table.ts';

/** The output of `asya dev`. */
export interface MeshView {
  line(line: LogLine): void;
  warn(text: string): void;
  note(text: string): void;
  /** Shows a line as long as the mesh runs. */
  pin(text: string): void;
  /** Called once a second with the queue depths. */
  depths(depths: ReadonlyMap<string, QueueDepths>): void;
  end(): void;
}

interface Counts {
  done: number;
  failed: number;
}

interface Row extends QueueDepths, Counts {
  readonly actor: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ACTOR', text: ({ actor }) => actor },
  { title: 'WAITING', text: ({ visible }) => numberText(visible), align: 'right' },
  { title: 'IN FLIGHT', text: ({ inFlight }) => numberText(inFlight), align: 'right' },
  { title: 'RETRIES', text: ({ delayed }) => numberText(delayed), align: 'right' },
  { title: 'DONE', text: ({ done }) => numberText(done), align: 'right' },
  { title: 'FAILED', text: ({ failed }) => numberText(failed), align: 'right' },
  { title: 'DLQ', text: ({ deadLettered }) => numberText(deadLettered), align: 'right' },
];

function numberText(value: number): string {
  return value === 0 ? '·' : String(value);
}

const RECENT_LINES = 12;
/** The table is shortened to keep this many recent lines visible: warnings appear only there. */
const MIN_RECENT_LINES = 6;

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** A live view that redraws itself in place: the queues in a table, warnings and changes below it. */
export function screenView(
  title: string,
  hint: string,
  write: (text: string) => void,
  size: () => ScreenSize,
): MeshView {
  const counts = new Map<string, Counts>();
  const recent: ((columns: number) => readonly string[])[] = [];
  const pinned: string[] = [];
  let queues: ReadonlyMap<string, QueueDepths> = new Map();
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
    const recentLines = recent.flatMap((linesIn) => linesIn(columns));
    const bottom = ['', ...pinned, pc.dim(hint)];
    const fixedRows = 1 + 1 + 1 + bottom.length;
    const table = shortened(
      tableLines(),
      height - fixedRows - Math.min(recentLines.length, MIN_RECENT_LINES),
    );
    const freeRows = Math.max(0, height - fixedRows - table.length);
    const lines = [
      pc.bold(title),
      '',
      ...table,
      '',
      ...(freeRows === 0 ? [] : recentLines.slice(-freeRows)),
      ...bottom,
    ];
    return lines.slice(0, Math.max(0, height)).map((line) => cutTo(line, columns));
  }

  function tableLines(): readonly string[] {
    const rows = [...queues].map(([actor, depths]) => ({
      actor,
      ...depths,
      ...(counts.get(actor) ?? NO_COUNTS),
    }));
    return tableText(COLUMNS, rows).split('\n');
  }

  function push(linesIn: (columns: number) => readonly string[]): void {
    recent.push(linesIn);
    recent.splice(0, recent.length - RECENT_LINES);
  }

  return {
    line: (line) => {
      count(counts, line);
      const text = lineText(line);
      if (text !== undefined) push(() => [text]);
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
    end: () => {},
  };
}

function shortened(table: readonly string[], most: number): readonly string[] {
  if (table.length <= most) return table;
  const shown = Math.max(1, most - 1);
  return [
    ...table.slice(0, shown),
    pc.dim(`… ${table.length - shown} more rows; enlarge the window to see them`),
  ];
}

const NO_COUNTS: Counts = { done: 0, failed: 0 };

function count(counts: Map<string, Counts>, line: LogLine): void {
  if (line.kind !== 'delivery') return;
  const known = counts.get(line.actor) ?? { ...NO_COUNTS };
  if (line.isFailure) known.failed++;
  else known.done++;
  counts.set(line.actor, known);
}

/** Undefined for debug and info lines: they are only in the log file. */
export function lineText(line: LogLine): string | undefined {
  const clock = line.time.slice(11, 19);
  switch (line.kind) {
    case 'delivery': {
      const text = oneLine(line.text, 200);
      const attempt = line.attempt > 1 ? ` attempt ${line.attempt}` : '';
      return `${pc.dim(clock)} ${line.actor}${attempt} ${pc.dim(oneLine(line.envelopeId, 12))} ${line.isFailure ? pc.red(text) : text}`;
    }
    case 'output':
      return `${pc.dim(clock)} ${line.actor} ${pc.dim('|')} ${oneLine(line.text, 300)}`;
    case 'other':
      return line.level === 'warn' || line.level === 'error'
        ? `${pc.dim(clock)} ${line.actor} ${pc.yellow(oneLine(line.text, 300))}`
        : undefined;
  }
}
