import { delimiter, dirname, resolve } from 'node:path';
import { fileOfHandler } from '../../config/manifest/handler-name.ts';
import type { ActorSpec } from '../../config/manifest/manifest.ts';
import { type ImportGraph, reachable } from './import-graph.ts';
import { nodeImports } from './node-imports.ts';
import { type KnownPythonImports, pythonFiles } from './python-imports.ts';

/** The files of each actor's handler: its own file and what that imports, with paths where an import may be created. */
export interface HandlerFiles {
  /** Reads the imports again. */
  update(actors: readonly ActorSpec[]): Promise<void>;
  /** Absolute paths. Empty for an actor without code in the mesh's folder. */
  of(actor: string): ReadonlySet<string>;
}

export function handlerFiles(folder: string): HandlerFiles {
  let graph: ImportGraph = new Map();
  const knownPython: KnownPythonImports = new Map();
  let files: ReadonlyMap<string, ReadonlySet<string>> = new Map();

  async function update(actors: readonly ActorSpec[]): Promise<void> {
    graph = await nodeImports([...new Set(actors.flatMap((spec) => nodeEntry(folder, spec) ?? []))], graph);
    files = new Map(actors.map((spec) => [spec.name, filesOf(spec)]));
  }

  function filesOf(spec: ActorSpec): ReadonlySet<string> {
    const { runtime } = spec;
    const entry = nodeEntry(folder, spec);
    if (entry !== undefined) return reachable([entry], graph);
    if (runtime.kind !== 'python') return new Set();
    return pythonFiles(runtime.handler, pythonRoots(folder, spec), knownPython);
  }

  return { update, of: (actor) => files.get(actor) ?? new Set() };
}

function nodeEntry(folder: string, { runtime, file }: ActorSpec): string | undefined {
  return runtime.kind === 'node'
    ? resolve(folder, dirname(file), fileOfHandler(runtime.handler) ?? '')
    : undefined;
}

/** The runtime starts in the folder of the document, and Python adds the folders of PYTHONPATH. */
function pythonRoots(folder: string, { file, environment }: ActorSpec): readonly string[] {
  const home = resolve(folder, dirname(file));
  const added = (environment['PYTHONPATH'] ?? '').split(delimiter).filter((path) => path !== '');
  return [home, ...added.map((path) => resolve(home, path))];
}
