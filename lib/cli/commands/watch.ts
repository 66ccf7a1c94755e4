import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { Command } from 'commander';
import { systemClock } from '../../adapters/system/system.ts';
import type { LogLine } from '../../local/mesh/log-line.ts';
import { EXIT } from '../exit.ts';
import { type Operator, withOperator } from '../operator.ts';
import { lineText } from '../output/mesh-view.ts';
import { oneLine } from '../output/plain-text.ts';
import type { Terminal } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';

interface WatchOptions {
  readonly mesh?: string;
}

export function addWatch(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  program
    .command('watch')
    .argument('<id>', "the envelope's id")
    .description('follows one envelope hop by hop until it ends')
    .option('--mesh <name>', 'of this mesh, where several run here')
    .addHelpText(
      'after',
      '\nExample:\n  asya watch $(asya send hello)\n\nExit status: 0 it succeeded, 1 it did not, 130 stopped by Ctrl-C.',
    )
    .action(async (id: string, options: WatchOptions) => {
      exit(await withOperator(terminal, options, (operator) => watch(id, operator, terminal)));
    });
}

const LOOK_EVERY_MS = 200;
const LOOKS_UNTIL_TOLD = 10;

/** Over when the end is recorded and the log has been read once more after that. */
async function watch(id: string, { mesh, stores }: Operator, terminal: Terminal): Promise<number> {
  if (mesh === undefined) throw new UsageError('asya: watch follows an envelope of a mesh on this machine');
  const { print, say } = terminal;
  const stop = terminal.stop();
  const log = tailOf(mesh.logFile);
  let isUnseen = true;
  try {
    for (let looks = 1; !stop.aborted; looks++) {
      const ends = await stores.records.ofEnvelope(id);
      for (const line of log.read()) {
        const text = isAbout(line, id) ? lineText(line) : undefined;
        if (text === undefined) continue;
        print(text);
        isUnseen = false;
      }
      if (!ends.ok) {
        say(`asya: ${ends.problem}`);
        return EXIT.failed;
      }
      const [end] = ends.records;
      if (end !== undefined) {
        print(oneLine(`${end.end} at ${end.actor}: ${end.reason}`));
        return end.end === 'succeeded' ? EXIT.fine : EXIT.failed;
      }
      if (isUnseen && looks === LOOKS_UNTIL_TOLD)
        say(`nothing of ${oneLine(id)} yet: it waits in a queue, or nobody sent it; Ctrl-C stops waiting`);
      await systemClock.sleep(LOOK_EVERY_MS, stop);
    }
    return EXIT.stopped;
  } finally {
    log.close();
  }
}

function isAbout(line: LogLine, id: string): boolean {
  return line.kind !== 'other' && line.envelopeId === id;
}

/** The lines of a file that still grows, each once. */
function tailOf(path: string): { read(): readonly LogLine[]; close(): void } {
  const file = openSync(path, 'a+');
  const chunk = Buffer.alloc(64 * 1024);
  let position = 0;
  // A character may lie across two reads.
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
