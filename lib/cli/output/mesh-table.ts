import stringWidth from 'string-width';
import type { QueueDepths } from '../../adapters/sqs/queue-depths.ts';
import type { LogLine } from '../../local/mesh/log-line.ts';
import { colors as pc } from './colors.ts';
import { countText } from './count-text.ts';
import { oneLine } from './plain-text.ts';
import { type Column, tableText } from './table.ts';

/** One actor in the table of `asya dev`. */
export interface ActorRow {
  readonly actor: string;
  /** Undefined: not known. */
  readonly depths: QueueDepths | undefined;
  readonly done: number;
  readonly failed: number;
  /** Why its handler cannot be loaded. */
  readonly problem: string | undefined;
}

const COLUMNS: readonly Column<ActorRow>[] = [
  { title: 'ACTOR', text: ({ actor }) => actor },
  { title: 'WAITING', text: ({ depths }) => numberText(depths?.visible), align: 'right' },
  { title: 'IN FLIGHT', text: ({ depths }) => numberText(depths?.inFlight), align: 'right' },
  { title: 'RETRIES', text: ({ depths }) => numberText(depths?.delayed), align: 'right' },
  { title: 'DONE', text: ({ done }) => numberText(done), align: 'right' },
  { title: 'FAILED', text: ({ failed }) => numberText(failed), align: 'right' },
  { title: 'DLQ', text: ({ depths }) => numberText(depths?.deadLettered), align: 'right' },
];

function numberText(value: number | undefined): string {
  if (value === undefined) return '?';
  return value === 0 ? '·' : String(value);
}

/** A problem that has less room next to the numbers is shown in place of them. */
const MIN_PROBLEM_COLUMNS = 40;

/** The table in at most `most` lines. Rows at the end that have no problem are left out first, and the last line counts them. */
export function tableLines(rows: readonly ActorRow[], columns: number, most: number): readonly string[] {
  const [head = '', ...numbers] = tableText(COLUMNS, rows).split('\n');
  const nameColumns = Math.max(5, ...rows.map(({ actor }) => stringWidth(actor)));
  const lines = rows.map((row, at) => problemLine(row, numbers[at] ?? '', nameColumns, columns));
  if (1 + lines.length <= most) return [head, ...lines];
  const shown = mostImportant(rows, Math.max(0, most - 2));
  const hidden = rows.filter((row) => !shown.has(row));
  return [head, ...lines.filter((_, at) => shown.has(rows[at] as ActorRow)), hiddenLine(hidden)];
}

/** The first rows, and before them those with a problem. The order of the table does not change. */
function mostImportant(rows: readonly ActorRow[], count: number): ReadonlySet<ActorRow> {
  const hasProblem = ({ problem }: ActorRow) => problem !== undefined;
  const byImportance = [...rows.filter(hasProblem), ...rows.filter((row) => !hasProblem(row))];
  return new Set(byImportance.slice(0, count));
}

function problemLine({ actor, problem }: ActorRow, line: string, names: number, columns: number): string {
  if (problem === undefined) return line;
  const isWide = columns - stringWidth(line) - 2 >= MIN_PROBLEM_COLUMNS;
  const left = isWide ? line : actor.padEnd(names);
  return pc.red(`${left}  ${oneLine(problem, Math.max(1, columns - stringWidth(left) - 2))}`);
}

function hiddenLine(hidden: readonly ActorRow[]): string {
  const broken = hidden.filter(({ problem }) => problem !== undefined).map(({ actor }) => actor);
  const text = `… ${countText(hidden.length, 'more row')}; enlarge the window to see them`;
  return broken.length === 0 ? pc.dim(text) : pc.red(`${text}; not loaded: ${broken.join(', ')}`);
}

/** Counts the envelopes that have ended at each actor. */
export interface EnvelopeCounts {
  add(line: LogLine): void;
  of(actor: string): { readonly done: number; readonly failed: number };
}

/** An envelope that is delivered twice counts once, as long as fewer others than this were in between. */
const REMEMBERED = 10_000;

export function envelopeCounts(): EnvelopeCounts {
  const counts = new Map<string, { count: number; readonly ids: Set<string> }>();
  const keyOf = (actor: string, end: 'done' | 'failed') => `${actor} ${end}`;
  const count = (actor: string, end: 'done' | 'failed') => counts.get(keyOf(actor, end))?.count ?? 0;
  return {
    add: (line) => {
      if (line.kind !== 'delivery' || line.end === undefined) return;
      const key = keyOf(line.actor, line.end);
      const known = counts.get(key) ?? { count: 0, ids: new Set() };
      counts.set(key, known);
      if (known.ids.has(line.envelopeId)) return;
      known.count++;
      known.ids.add(line.envelopeId);
      const [oldest] = known.ids;
      if (known.ids.size > REMEMBERED && oldest !== undefined) known.ids.delete(oldest);
    },
    of: (actor) => ({ done: count(actor, 'done'), failed: count(actor, 'failed') }),
  };
}
