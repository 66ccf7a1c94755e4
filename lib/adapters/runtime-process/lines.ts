import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** A longer line is passed on in pieces, because a stream may have no line ends at all. */
const MAX_LINE_LENGTH = 256 * 1024;

/**
 * Calls back for each line of a stream, including a last line without a line end. Lines end with `\n`, `\r\n` or `\r`,
 * which progress bars write. `readline` would also split at U+2028 and U+2029, which are ordinary characters in output.
 */
export function onLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const text = rest + decoder.write(chunk);
    // The next chunk may start with its `\n`.
    const held = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - held.length).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? '') + held;
    for (const line of lines) onLine(line);
    if (rest.length > MAX_LINE_LENGTH) {
      onLine(rest);
      rest = '';
    }
  });
  stream.once('end', () => {
    rest += decoder.end();
    if (rest !== '') onLine(rest.endsWith('\r') ? rest.slice(0, -1) : rest);
  });
}
