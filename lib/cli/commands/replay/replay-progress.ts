import cliProgress from 'cli-progress';
import type { ReplayProgress } from '../../../app/replay/replay.ts';
import type { Terminal } from '../../output/terminal.ts';

export interface ProgressView {
  show(progress: ReplayProgress): void;
  end(): void;
}

/** A progress bar on a terminal, occasional lines in a log. */
export function createProgressView({ isInteractive, printError }: Terminal, total: number): ProgressView {
  return isInteractive ? bar(total) : lines(printError, total);
}

const LINE_EVERY = 100;

/** A line for the first, every hundredth and the last envelope, and when everything sent so far has ended. */
function lines(printError: Terminal['printError'], total: number): ProgressView {
  let last = '';
  return {
    show: ({ sent, ended }) => {
      const isStep = sent === 1 || sent % LINE_EVERY === 0 || sent === total || ended === sent;
      const line = `sent ${sent} of ${total}, ${ended} ended`;
      if (sent === 0 || !isStep || line === last) return;
      last = line;
      printError(line);
    },
    end: () => {},
  };
}

function bar(total: number): ProgressView {
  const drawn = new cliProgress.SingleBar({
    format: '{bar} {value}/{total} sent · {ended} ended · {skipped} skipped',
    // The replay handles Ctrl-C, and stops the bar when it ends.
    gracefulExit: false,
  });
  drawn.start(total, 0, { ended: 0, skipped: 0 });
  return {
    show: ({ sent, ended, skipped }) => drawn.update(sent, { ended, skipped }),
    end: () => drawn.stop(),
  };
}
