import { join, relative } from 'node:path';
import { ENV_FILE } from '../../assembly/mesh/local-secrets.ts';
import { manifestFiles } from '../../assembly/mesh/read-mesh.ts';
import type { Manifest } from '../../config/manifest/manifest.ts';
import { handlerFiles } from '../imports/handler-files.ts';
import { fileState, isChangedAfter, MISSING } from './file-state.ts';

/** What changed since the last report. */
export interface FolderChanges {
  /** A document or `flows.yaml` changed, or a file of a handler was created or deleted. */
  readonly isManifest: boolean;
  /** An interpreter of a virtual environment was created, replaced or deleted. */
  readonly isPython: boolean;
  /** `.env` was created, changed or deleted. */
  readonly isEnv: boolean;
  /** Why each of these actors has to restart, e.g. `prompts.ts changed`. */
  readonly handlers: ReadonlyMap<string, string>;
}

export interface ChangeDetector {
  /** Undefined: nothing changed, or files are still being written. A change is reported once two calls find the same. */
  check(): Promise<FolderChanges | undefined>;
}

export interface WatchedFiles {
  readonly manifest: () => Manifest;
  /** Interpreters and configuration files of virtual environments, which may not exist. */
  readonly pythonFiles: () => readonly string[];
  /** Files of handlers that changed after this time, in milliseconds, count as changed. */
  readonly since: number;
}

type States = ReadonlyMap<string, string>;

const DOCUMENT = /\.ya?ml$/;

/** Compares the states of the files that belong to a mesh. No other file is looked at, and no folder is searched. */
export function changeDetector(root: string, watched: WatchedFiles): ChangeDetector {
  const handlers = handlerFiles(root);
  const envFile = join(root, ENV_FILE);
  let reported: States | undefined;
  let last: States = new Map();
  let actors: Manifest['actors'] | undefined;

  async function check(): Promise<FolderChanges | undefined> {
    if (reported === undefined) return start();
    if (watched.manifest().actors !== actors) await followActors(reported);
    const now = statesOf(allFiles());
    const isSettled = isSame(now, last);
    last = now;
    if (!isSettled || isSame(now, reported)) return undefined;
    return report(reported, now);
  }

  /** Changes between the start of the mesh and this call were not seen. */
  async function start(): Promise<FolderChanges | undefined> {
    await updateHandlers();
    const recent = new Set([...handlerPaths()].filter((path) => isChangedAfter(path, watched.since)));
    last = statesOf(allFiles());
    reported = last;
    return { isManifest: true, isPython: false, isEnv: true, handlers: reasons(recent, last) };
  }

  /** A new manifest brings new files of handlers, which have not changed. */
  async function followActors(before: States): Promise<void> {
    await updateHandlers();
    // Only the known documents: one that was created or deleted meanwhile is not reported yet.
    const documents = [...before.keys()].filter((path) => DOCUMENT.test(path));
    const others = [...allFiles()].filter((path) => !DOCUMENT.test(path));
    reported = statesOf([...others, ...documents], before);
  }

  async function report(before: States, now: States): Promise<FolderChanges> {
    const changed = new Set(
      [...before.keys(), ...now.keys()].filter((path) => before.get(path) !== now.get(path)),
    );
    const ofHandlers = handlerPaths();
    const pythonFiles = new Set(watched.pythonFiles());
    const documents = [...changed].filter((path) => DOCUMENT.test(path) && !ofHandlers.has(path));
    const isMoved = [...changed].some(
      (path) => ofHandlers.has(path) && (before.get(path) === MISSING) !== (now.get(path) === MISSING),
    );
    const found = {
      isManifest: documents.length > 0 || isMoved,
      isPython: [...changed].some((path) => pythonFiles.has(path)),
      isEnv: changed.has(envFile),
      handlers: reasons(changed, now),
    };
    await updateHandlers();
    // Newly imported files have not changed. Their importer has.
    reported = statesOf(allFiles(), now);
    last = reported;
    return found;
  }

  async function updateHandlers(): Promise<void> {
    ({ actors } = watched.manifest());
    await handlers.update(actors);
  }

  function handlerPaths(): ReadonlySet<string> {
    return new Set((actors ?? []).flatMap(({ name }) => [...handlers.of(name)]));
  }

  function allFiles(): ReadonlySet<string> {
    const documents = manifestFiles(root).map((path) => join(root, path));
    return new Set([...documents, envFile, ...watched.pythonFiles(), ...handlerPaths()]);
  }

  function reasons(changed: ReadonlySet<string>, now: States): ReadonlyMap<string, string> {
    return new Map(
      (actors ?? []).flatMap(({ name }) => {
        const paths = [...handlers.of(name)].filter((path) => changed.has(path));
        return paths.length === 0 ? [] : [[name, reasonText(root, paths, now)]];
      }),
    );
  }

  return { check };
}

const MOST_NAMED = 3;

function reasonText(root: string, paths: readonly string[], now: States): string {
  const isGone = (path: string) => now.get(path) === MISSING;
  const [first = ''] = paths;
  if (paths.length === 1 && isGone(first)) return `${relative(root, first)} was deleted`;
  const names = paths.filter((path) => !isGone(path)).map((path) => relative(root, path));
  const shown = names.length === 0 ? paths.map((path) => relative(root, path)) : names;
  if (shown.length <= MOST_NAMED) return `${shown.join(', ')} changed`;
  return `${shown.slice(0, 2).join(', ')} and ${shown.length - 2} more files changed`;
}

/** The known state of each path, or its current state if none is known. */
function statesOf(paths: Iterable<string>, known: States = new Map()): States {
  return new Map([...paths].map((path) => [path, known.get(path) ?? fileState(path)]));
}

function isSame(a: States, b: States): boolean {
  const paths = new Set([...a.keys(), ...b.keys()]);
  return [...paths].every((path) => (a.get(path) ?? MISSING) === (b.get(path) ?? MISSING));
}
