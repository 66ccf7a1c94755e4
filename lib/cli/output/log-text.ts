import type { LogLine } from '../../local/mesh/log-line.ts';
import { colors as pc } from './colors.ts';
import { cutTo, oneLine, plainLine, wrapTo } from './plain-text.ts';

/**
 * A line of the log as one line of text, in its full length. Undefined for debug and info lines: they are only in the log
 * file.
 */
export function lineText(line: LogLine): string | undefined {
  const clock = pc.dim(line.time.slice(11, 19));
  switch (line.kind) {
    case 'delivery': {
      const text = oneLine(line.text);
      return `${clock} ${line.actor} ${idText(line.envelopeId)} ${line.isFailure ? pc.red(text) : text}`;
    }
    case 'output': {
      const id = line.envelopeId === undefined ? '' : ` ${idText(line.envelopeId)}`;
      return `${clock} ${line.actor}${id} ${pc.dim('|')} ${plainLine(line.text)}`;
    }
    case 'other':
      return line.level === 'warn' || line.level === 'error'
        ? `${clock} ${line.actor} ${pc.yellow(oneLine(line.text))}`
        : undefined;
  }
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
const MAX_ID = 20;

/** The start of an id. The commands accept the start of a generated id. */
function idText(id: string): string {
  return pc.dim(UUID.test(id) ? id.slice(0, 8) : oneLine(id, MAX_ID));
}

const MAX_ROWS = 4;

/** A line of the log on the screen: wrapped, and cut after some rows. Warnings are not cut. */
export function screenRows(line: LogLine, columns: number): readonly string[] {
  const text = lineText(line);
  if (text === undefined) return [];
  if (line.kind === 'other') return wrapTo(text, columns);
  // Cut first: wrapping a very long line takes time.
  const rows = wrapTo(cutTo(text, columns * (MAX_ROWS + 1)), columns);
  if (rows.length <= MAX_ROWS) return rows;
  const last = rows[MAX_ROWS - 1] ?? '';
  return [...rows.slice(0, MAX_ROWS - 1), `${cutTo(last, columns - 1)}…`];
}
