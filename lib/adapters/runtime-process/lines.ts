import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** A line that the process printed. */
export interface RuntimeLine {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  /** Known if exactly one call is in flight. */
  readonly envelopeId?: string;
  /** Set if the process was not ready for calls yet. */
  readonly isStarting?: true;
}

/** A longer line is passed on in pieces, because a stream may have no line ends at all. */
const MAX_LINE_LENGTH = 256 * 1024;

/**
 * Calls back for each line of a stream, including a last line without a line end. Lines end with `\n`, `\r\n` or `\r`,
 * which progress bars write. `readline` would also split at U+2028 and U+2029, which are ordinary characters in output.
 */
export function onLines(
  stream: Readable,
  onLine: (line: string) => void,
  maxLength: number = MAX_LINE_LENGTH,
): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const text = rest + decoder.write(chunk);
    // The next chunk may start with its `\n`.
    const held = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - held.length).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? '';
    for (const line of lines) for (const piece of piecesOf(line, maxLength)) onLine(piece);
    const pieces = piecesOf(rest, maxLength);
    rest = `${pieces.pop() ?? ''}${held}`;
    for (const piece of pieces) onLine(piece);
  });
  stream.once('end', () => {
    rest += decoder.end();
    if (rest !== '') onLine(rest.endsWith('\r') ? rest.slice(0, -1) : rest);
  });
}

/** At least one piece. A character that consists of two code units is not divided. */
function piecesOf(line: string, maxLength: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (line.length - from > maxLength) {
    const isPair = /[\ud800-\udbff]/.test(line.charAt(from + maxLength - 1));
    const to = from + maxLength - (isPair ? 1 : 0);
    pieces.push(line.slice(from, to));
    from = to;
  }
  return [...pieces, line.slice(from)];
}
