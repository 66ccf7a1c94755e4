import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { LogLine } from '../../local/mesh/log-line.ts';

export interface LogTail {
  read(): readonly LogLine[];
  close(): void;
}

/** Reads the new lines of the growing log of a local mesh. */
export function logTail(path: string): LogTail {
  const file = openSync(path, 'a+');
  const chunk = Buffer.alloc(64 * 1024);
  let position = 0;
  // A read may end inside a multi-byte character.
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return {
    read: () => {
      for (;;) {
        const bytes = readSync(file, chunk, 0, chunk.length, position);
        if (bytes === 0) break;
        position += bytes;
        rest += decoder.write(chunk.subarray(0, bytes));
      }
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LogLine);
    },
    close: () => closeSync(file),
  };
}
