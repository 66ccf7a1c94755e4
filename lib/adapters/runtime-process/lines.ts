import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/**
 * Calls back for each line of a stream, the last one too if it has no end. Only `\n` and `\r\n` end a line: `readline`
 * would also split at U+2028 and U+2029, which are ordinary characters in what a handler prints.
 */
export function onLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const emit = (line: string) => onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  stream.on('data', (chunk: Buffer) => {
    const lines = decoder.write(chunk).split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? '';
    for (const line of lines) emit(line);
  });
  stream.once('end', () => {
    rest += decoder.end();
    if (rest !== '') emit(rest);
  });
}
