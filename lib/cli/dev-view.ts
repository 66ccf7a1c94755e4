import type { LogLine } from '../local/log-line.ts';
import type { QueueDepths } from '../local/queues.ts';
import { colors as pc } from './colors.ts';
import { oneLine } from './plain-text.ts';
import { type Column, tableText } from './table.ts';

/** What `asya dev` shows of a mesh at work. */
export interface DevView {
  line(line: LogLine): void;
  trouble(words: string): void;
  note(words: string): void;
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

/** One calm screen, drawn anew in its place; troubles and changes stand in the recent lines. */
export function screenView(
  title: string,
  hint: string,
  write: (text: string) => void,
  size: () => { readonly columns: number; readonly rows: number },
): DevView {
  const counts = new Map<string, Counts>();
  const recent: string[] = [];
  let queues: ReadonlyMap<string, QueueDepths> = new Map();
  let drawn = 0;

  function draw(): void {
    const rows = [...queues].map(([actor, depths]) => ({
      actor,
      ...depths,
      ...(counts.get(actor) ?? NOTHING),
    }));
    const { columns, rows: height } = size();
    const top = [pc.bold(title), '', ...tableText(COLUMNS, rows).split('\n'), ''];
    const bottom = ['', pc.dim(hint)];
    // What does not fit cannot be drawn over again: the recent lines give way first, then the table's end.
    const room = Math.max(0, height - 1 - top.length - bottom.length);
    const lines = [...top, ...(room === 0 ? [] : recent.slice(-room)), ...bottom].slice(0, height - 1);
    const fitting = lines.map((line) => cut(line, columns));
    write(`${drawn > 0 ? `\x1b[${drawn}A\x1b[0J` : ''}${fitting.join('\n')}\n`);
    drawn = fitting.length;
  }

  function push(text: string): void {
    recent.push(text);
    recent.splice(0, recent.length - RECENT_LINES);
  }

  return {
    line: (line) => {
      count(counts, line);
      const text = lineText(line);
      if (text !== undefined) push(text);
    },
    trouble: (words) => {
      push(pc.yellow(`! ${words}`));
      draw();
    },
    note: (words) => {
      push(words);
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
export function plainView(print: (text: string) => void): DevView {
  return {
    line: (line) => {
      const text = lineText(line);
      if (text !== undefined) print(text);
    },
    trouble: (words) => print(`! ${words}`),
    note: print,
    depths: () => {},
    end: () => {},
  };
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

/** Escape sequences count nothing; a line that is too long must not wrap, or the screen would creep. */
function cut(line: string, width: number): string {
  let shown = 0;
  let text = '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  for (const [part] of line.matchAll(/\x1b\[[0-9;]*m|./gsu)) {
    if (part.startsWith('\x1b')) text += part;
    else if (shown < width - 1) {
      text += part;
      shown++;
    }
  }
  return text;
}
