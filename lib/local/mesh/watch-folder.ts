import { realpathSync } from 'node:fs';
import { systemClock } from '../../adapters/system/system.ts';
import { changeDetector, type FolderChanges, type WatchedFiles } from './folder-changes.ts';

export interface FolderWatch {
  close(): Promise<void>;
}

const INTERVAL_MS = 200;
/** A mesh with very many files is checked less often, so that checks use at most this share of the time. */
const MAX_SHARE = 0.02;
const MAX_INTERVAL_MS = 1_000;

/**
 * Checks the files of a mesh regularly, because events of the file system are lost in containers and on network drives.
 * Calls back after each check: with the changes after files were written completely, otherwise with undefined. The next
 * check waits for the callback.
 */
export function watchFolder(
  folder: string,
  watched: WatchedFiles,
  onCheck: (changes: FolderChanges | undefined) => Promise<void>,
): FolderWatch {
  const detector = changeDetector(realpathSync(folder), watched);
  const closing = new AbortController();

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      const startedAt = performance.now();
      const changes = await detector.check();
      const tookMs = performance.now() - startedAt;
      if (!closing.signal.aborted) await onCheck(changes);
      const pauseMs = Math.min(Math.max(INTERVAL_MS, tookMs / MAX_SHARE), MAX_INTERVAL_MS);
      await systemClock.sleep(pauseMs, closing.signal);
    }
  }

  const watching = watch();
  return {
    close: async () => {
      closing.abort();
      await watching;
    },
  };
}
