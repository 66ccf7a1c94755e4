import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { systemClock } from '../../../adapters/system/system.ts';
import type { LogLine } from '../../../local/mesh/log-line.ts';
import { EXIT } from '../../exit-status.ts';
import { type Operator, withOperator } from '../../operator.ts';
import { lineText } from '../../output/mesh-view.ts';
import { oneLine } from '../../output/plain-text.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';

interface WatchOptions {
  readonly mesh?: string;
}

/** `asya watch`: prints the log lines of one envelope until it ends. */
export function runWatch(terminal: Terminal, options: WatchOptions, id: string): Promise<number> {
  return withOperator(terminal, options, (operator) => watch(id, operator, terminal));
}

const POLL_INTERVAL_MS = 200;
const POLLS_BEFORE_HINT = 10;

/** Reads the end record before the log, so that the log is complete when the end is found. */
async function watch(id: string, { mesh, stores }: Operator, terminal: Terminal): Promise<number> {
  if (mesh === undefined) throw new UsageError('asya: watch works only with a mesh on this machine');
  const { print, printError } = terminal;
  const stop = terminal.stop();
  const log = tailOf(mesh.logFile);
  let hasNoLines = true;
  try {
    for (let polls = 1; !stop.aborted; polls++) {
      const ends = await stores.records.ofEnvelope(id);
      for (const line of log.read()) {
        const text = isAbout(line, id) ? lineText(line) : undefined;
        if (text === undefined) continue;
        print(text);
        hasNoLines = false;
      }
      if (!ends.ok) {
        printError(`asya: ${ends.problem}`);
        return EXIT.failed;
      }
      const [end] = ends.records;
      if (end !== undefined) {
        print(oneLine(`${end.end} at ${end.actor}: ${end.reason}`));
        return end.end === 'succeeded' ? EXIT.ok : EXIT.failed;
      }
      if (hasNoLines && polls === POLLS_BEFORE_HINT)
        printError(
          `no log lines for ${oneLine(id)} yet: it is waiting in a queue, or it was never sent; press Ctrl-C to stop waiting`,
        );
      await systemClock.sleep(POLL_INTERVAL_MS, stop);
    }
    return EXIT.interrupted;
  } finally {
    log.close();
  }
}

function isAbout(line: LogLine, id: string): boolean {
  return line.kind !== 'other' && line.envelopeId === id;
}

/** Reads the new lines of a growing file. */
function tailOf(path: string): { read(): readonly LogLine[]; close(): void } {
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
