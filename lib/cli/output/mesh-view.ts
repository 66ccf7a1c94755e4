import type { QueueDepths } from '../../adapters/sqs/queue-depths.ts';
import type { LogLine } from '../../local/mesh/log-line.ts';
import { colors as pc } from './colors.ts';
import { cutTo, oneLine, plainLines, wrapTo } from './plain-text.ts';
import { type Column, tableText } from './table.ts';

/** What `asya dev` shows of a mesh at work. */
export interface MeshView {
  line(line: LogLine): void;
  trouble(words: string): void;
  note(words: string): void;
  /** What is needed for as long as it runs. */
  keep(words: string): void;
  /** Once a second: how full the queues are. */
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
/** So many lines of what happened are seen however long the table is: troubles stand there alone. */
const MIN_RECENT_LINES = 6;

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** One calm screen, drawn anew in its place; troubles and changes stand in the recent lines. */
export function screenView(
  title: string,
  hint: string,
  write: (text: string) => void,
  size: () => ScreenSize,
): MeshView {
  const counts = new Map<string, Counts>();
  const recent: ((columns: number) => readonly string[])[] = [];
  const kept: string[] = [];
  let queues: ReadonlyMap<string, QueueDepths> = new Map();
  let drawn: (ScreenSize & { readonly lines: number }) | undefined;

  function draw(): void {
    const { columns, rows } = size();
    // The last column stays empty: some terminals wrap as soon as it is written.
    const lines = fitting(columns - 1, rows - 1);
    write(`${upAgain({ columns, rows })}${lines.join('\n')}\n`);
    drawn = { columns, rows, lines: lines.length };
  }

  /** Another size has broken the lines anew, nobody knows where. */
  function upAgain({ columns, rows }: ScreenSize): string {
    if (drawn === undefined) return '';
    const isSame = drawn.columns === columns && drawn.rows === rows;
    // From the left: what a terminal echoes, such as ^C, has moved the cursor to the right.
    return isSame ? `\r\x1b[${drawn.lines}A\x1b[0J` : '\x1b[H\x1b[2J';
  }

  /** What does not fit cannot be drawn over again: the recent lines give way first, then the table's end. */
  function fitting(columns: number, height: number): readonly string[] {
    const news = recent.flatMap((linesIn) => linesIn(columns));
    const bottom = ['', ...kept, pc.dim(hint)];
    const besides = 1 + 1 + 1 + bottom.length;
    const table = shortened(tableLines(), height - besides - Math.min(news.length, MIN_RECENT_LINES));
    const room = Math.max(0, height - besides - table.length);
    const lines = [pc.bold(title), '', ...table, '', ...(room === 0 ? [] : news.slice(-room)), ...bottom];
    return lines.slice(0, Math.max(0, height)).map((line) => cutTo(line, columns));
  }

  function tableLines(): readonly string[] {
    const rows = [...queues].map(([actor, depths]) => ({
      actor,
      ...depths,
      ...(counts.get(actor) ?? NOTHING),
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
    // Whole, however narrow it is: what to do stands at its end.
    trouble: (words) => {
      push((columns) =>
        plainLines(`! ${words}`).flatMap((line) => wrapTo(line, columns).map((part) => pc.yellow(part))),
      );
      draw();
    },
    note: (words) => {
      push((columns) => wrapTo(oneLine(words), columns));
      draw();
    },
    keep: (words) => {
      kept.push(oneLine(words));
      draw();
    },
    depths: (depths) => {
      queues = depths;
      draw();
    },
    end: () => {},
  };
}

/** One line for each thing that happens: for logs and pipes. */
export function plainView(print: (text: string) => void): MeshView {
  return {
    line: (line) => {
      const text = lineText(line);
      if (text !== undefined) print(text);
    },
    trouble: (words) => print(`! ${words}`),
    note: print,
    keep: print,
    depths: () => {},
    end: () => {},
  };
}

function shortened(table: readonly string[], most: number): readonly string[] {
  if (table.length <= most) return table;
  const shown = Math.max(1, most - 1);
  return [...table.slice(0, shown), pc.dim(`… ${table.length - shown} more; a taller window shows them`)];
}

const NOTHING: Counts = { done: 0, failed: 0 };

function count(counts: Map<string, Counts>, line: LogLine): void {
  if (line.kind !== 'delivery') return;
  const known = counts.get(line.actor) ?? { ...NOTHING };
  if (line.isFailure) known.failed++;
  else known.done++;
  counts.set(line.actor, known);
}

/** Undefined for what only matters to whoever asked for more with `--log-level`. */
export function lineText(line: LogLine): string | undefined {
  const clock = line.time.slice(11, 19);
  switch (line.kind) {
    case 'delivery': {
      const words = oneLine(line.words, 200);
      const attempt = line.attempt > 1 ? ` attempt ${line.attempt}` : '';
      return `${pc.dim(clock)} ${line.actor}${attempt} ${pc.dim(oneLine(line.envelopeId, 12))} ${line.isFailure ? pc.red(words) : words}`;
    }
    case 'output':
      return `${pc.dim(clock)} ${line.actor} ${pc.dim('|')} ${oneLine(line.text, 300)}`;
    case 'other':
      return line.level === 'warn' || line.level === 'error'
        ? `${pc.dim(clock)} ${line.actor} ${pc.yellow(oneLine(line.words, 300))}`
        : undefined;
  }
}
