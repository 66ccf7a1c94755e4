import cliProgress from 'cli-progress';
import type { ReplayProgress } from '../app/replay.ts';
import type { Terminal } from './terminal.ts';

export interface ProgressView {
  show(progress: ReplayProgress): void;
  end(): void;
}

/** A bar for a person, a line now and then for a log. */
export function progressOn({ isInteractive, say }: Terminal, total: number): ProgressView {
  if (!isInteractive) {
    let told = 0;
    return {
      show: ({ sent, ended }) => {
        if (sent === told || (sent % 100 !== 0 && sent !== total && sent !== 1)) return;
        told = sent;
        say(`sent ${sent} of ${total}, ${ended} ended`);
      },
      end: () => {},
    };
  }
  const bar = new cliProgress.SingleBar({
    format: '{bar} {value}/{total} sent · {ended} ended · {skipped} skipped',
  });
  bar.start(total, 0, { ended: 0, skipped: 0 });
  return {
    show: ({ sent, ended, skipped }) => bar.update(sent, { ended, skipped }),
    end: () => bar.stop(),
  };
}
