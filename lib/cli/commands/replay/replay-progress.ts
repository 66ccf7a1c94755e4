import cliProgress from 'cli-progress';
import type { ReplayProgress } from '../../../app/replay/replay.ts';
import type { Terminal } from '../../output/terminal.ts';

export interface ProgressView {
  show(progress: ReplayProgress): void;
  end(): void;
}

/** A bar for a person, a line now and then for a log. */
export function progressOn({ isInteractive, say }: Terminal, total: number): ProgressView {
  return isInteractive ? bar(total) : lines(say, total);
}

const LINE_EVERY = 100;

/** At the first, at every hundredth and the last, and when everything sent so far has ended. */
function lines(say: Terminal['say'], total: number): ProgressView {
  let told = '';
  return {
    show: ({ sent, ended }) => {
      const isStep = sent === 1 || sent % LINE_EVERY === 0 || sent === total || ended === sent;
      const words = `sent ${sent} of ${total}, ${ended} ended`;
      if (sent === 0 || !isStep || words === told) return;
      told = words;
      say(words);
    },
    end: () => {},
  };
}

function bar(total: number): ProgressView {
  const drawn = new cliProgress.SingleBar({
    format: '{bar} {value}/{total} sent · {ended} ended · {skipped} skipped',
    // Ctrl-C ends the replay, and the replay's end the bar.
    gracefulExit: false,
  });
  drawn.start(total, 0, { ended: 0, skipped: 0 });
  return {
    show: ({ sent, ended, skipped }) => drawn.update(sent, { ended, skipped }),
    end: () => drawn.stop(),
  };
}
