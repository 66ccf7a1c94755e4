import { dirname, extname, relative, resolve } from 'node:path';
import { watch } from 'chokidar';
import { fileOfHandler } from '../../config/manifest/handler-name.ts';
import type { Manifest, RuntimeSpec } from '../../config/manifest/manifest.ts';

export interface FolderWatch {
  close(): Promise<void>;
}

export interface FolderChanges {
  /** A document or `flows.yaml` changed, or may have changed before the watch started. */
  readonly onManifest: () => void;
  /** Files of these actors changed. */
  readonly onHandlers: (actors: readonly string[]) => void;
}

const SETTLED_AFTER_MS = 150;
const IGNORED = /(^|\/)(node_modules|\.asya|\.git|cdk\.out|dist|coverage|__pycache__)(\/|$)/;
const CODE = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.py', '.json'];

/** Reports changes after a short pause, because an editor writes a file in several steps. */
export function watchFolder(folder: string, manifest: () => Manifest, changes: FolderChanges): FolderWatch {
  const root = resolve(folder);
  let isManifest = false;
  let changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    const paths = [...changed];
    changed = new Set();
    if (isManifest) changes.onManifest();
    isManifest = false;
    const actors = actorsOf(paths);
    if (actors.length > 0) changes.onHandlers(actors);
  }

  /** A handler's file belongs to its actor. Any other file may be imported by all actors in or above its folder. */
  function actorsOf(paths: readonly string[]): readonly string[] {
    const homes = manifest().actors.map(({ name, file, runtime }) => {
      const home = resolve(root, dirname(file));
      return { name, home, own: handlerFiles(runtime).map((path) => resolve(home, path)) };
    });
    const isOwned = (path: string) => homes.some(({ own }) => own.includes(path));
    return homes
      .filter(({ home, own }) =>
        paths.some((path) => own.includes(path) || (!isOwned(path) && path.startsWith(`${home}/`))),
      )
      .map(({ name }) => name);
  }

  const watcher = watch(root, {
    ignoreInitial: true,
    ignored: (path) => IGNORED.test(relative(root, path)),
  });
  function flushLater(): void {
    clearTimeout(timer);
    timer = setTimeout(flush, SETTLED_AFTER_MS);
  }

  // Changes between reading the manifest and the start of the watch are not reported, so read it again.
  watcher.once('ready', () => {
    isManifest = true;
    flushLater();
  });
  watcher.on('all', (_event, path) => {
    const extension = extname(path);
    if (extension === '.yaml' || extension === '.yml') isManifest = true;
    else if (CODE.includes(extension)) changed.add(resolve(path));
    else return;
    flushLater();
  });
  return {
    close: () => {
      clearTimeout(timer);
      return watcher.close();
    },
  };
}

/** Possible files of a handler, relative to its document: for `a.b.f` in Python, a.py and a/b.py. */
function handlerFiles(runtime: RuntimeSpec): readonly string[] {
  if (runtime.kind === 'node') return [fileOfHandler(runtime.handler) ?? ''];
  if (runtime.kind !== 'python') return [];
  const steps = runtime.handler.split('.');
  return steps.slice(1).map((_, index) => `${steps.slice(0, index + 1).join('/')}.py`);
}
