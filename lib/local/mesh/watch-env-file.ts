import { basename } from 'node:path';
import { watch } from 'chokidar';
import { ENV_FILE } from '../../assembly/mesh/local-secrets.ts';

const SETTLED_AFTER_MS = 150;

/**
 * Calls back after `.env` of the folder was created, changed or deleted, and once when the watch has started. Watches the
 * folder, because many editors replace a file instead of writing to it.
 */
export function watchEnvFile(folder: string, onChange: () => void): { close(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, {
    depth: 0,
    ignoreInitial: true,
    ignored: (path, stats) => stats?.isFile() === true && basename(path) !== ENV_FILE,
  });
  const changeLater = () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, SETTLED_AFTER_MS);
  };
  // The file may have changed since it was read.
  watcher.once('ready', changeLater);
  watcher.on('all', (_event, path) => {
    if (basename(path) === ENV_FILE) changeLater();
  });
  return {
    close: () => {
      clearTimeout(timer);
      return watcher.close();
    },
  };
}
