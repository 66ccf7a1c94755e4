import { dirname, relative, resolve } from 'node:path';
import type { ActorSpec } from '../../config/manifest/manifest.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { fileState } from './file-state.ts';
import { environmentFiles, findPython, type PythonSearch } from './find-python.ts';

/** Which Python runs each actor's handler. */
export interface MeshPythons {
  /** Undefined for an actor that does not need Python. */
  of(actor: ActorSpec): PythonSearch | undefined;
  /** The actors whose Python is another one now, or was recreated, since the last call of `of`. */
  changes(actors: readonly ActorSpec[]): readonly ActorSpec[];
  /** The Pythons of these actors as text. Names the actors if they do not all use the same one. */
  texts(actors: readonly ActorSpec[]): readonly string[];
  /** Files that select the Python of these actors. They may not exist. */
  files(actors: readonly ActorSpec[]): readonly string[];
}

/** `startFolder` is where the mesh was started. Its environment is used if those next to the code do not exist. */
export function meshPythons(folder: string, startFolder: string, shell: Environment): MeshPythons {
  /** The Python of each actor in a form that differs after its environment was recreated. */
  const used = new Map<string, string>();
  const searchFor = (actor: ActorSpec) =>
    actor.runtime.kind === 'python'
      ? findPython(pythonFolders(actor, folder, startFolder), shell)
      : undefined;
  return {
    of: (actor) => {
      const search = searchFor(actor);
      used.set(actor.name, stateText(search));
      return search;
    },
    changes: (actors) =>
      actors.filter(
        (actor) => actor.runtime.kind === 'python' && used.get(actor.name) !== stateText(searchFor(actor)),
      ),
    texts: (actors) => {
      const names = new Map<string, string[]>();
      for (const actor of actors) {
        const found = searchFor(actor);
        if (found === undefined || 'problem' in found) continue;
        const text = pythonText(found, folder, shell);
        names.set(text, [...(names.get(text) ?? []), actor.name]);
      }
      return [...names].map(([text, users]) => (names.size === 1 ? text : `${text} for ${users.join(', ')}`));
    },
    files: (actors) => [
      ...new Set(
        actors
          .filter(({ runtime }) => runtime.kind === 'python')
          .flatMap((actor) => environmentFiles(pythonFolders(actor, folder, startFolder))),
      ),
    ],
  };
}

/** Where the virtual environment of an actor may be, nearest first. */
export function pythonFolders({ file }: ActorSpec, folder: string, startFolder: string): readonly string[] {
  return [...new Set([resolve(folder, dirname(file)), resolve(folder), resolve(startFolder)])];
}

/** For messages, e.g. `Python 3.11.7 (.venv/bin/python)`. Names an activated environment that is not used. */
export function pythonText(
  { python, version, environment }: Exclude<PythonSearch, { problem: string }>,
  folder: string,
  shell: Environment,
): string {
  const near = relative(folder, python);
  const text = `Python ${version} (${near.startsWith('..') ? python : near})`;
  const activated = shell['VIRTUAL_ENV'];
  const isOther = environment !== undefined && activated && resolve(activated) !== resolve(environment);
  return isOther ? `${text}, not the activated environment ${activated}` : text;
}

function stateText(search: PythonSearch | undefined): string {
  const isFound = search !== undefined && 'python' in search;
  return JSON.stringify([search, isFound ? fileState(search.python) : '']);
}
