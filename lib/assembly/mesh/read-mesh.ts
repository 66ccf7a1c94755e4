import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { ACTOR_KIND } from '../../config/manifest/actor-document.ts';
import type { Manifest } from '../../config/manifest/manifest.ts';
import { namesOurs } from '../../config/manifest/own-document.ts';
import { readManifest } from '../../config/manifest/read-manifest.ts';
import type { ManifestFile } from '../../config/manifest/yaml-document.ts';
import { excerpt } from '../../core/text/describe-value.ts';
import type { Mistake } from '../../core/text/mistake.ts';
import { suggestion } from '../../core/text/nearest.ts';
import { type CodeProblems, handlerCheckIn } from './check-handler.ts';
import { isFile, isFolder, namesIn, realPath } from './path-kind.ts';

export type MeshReading =
  | {
      readonly manifest: Manifest;
      readonly warnings: readonly Mistake[];
      /** YAML files of other tools, from the folder. */
      readonly ignored: readonly string[];
    }
  | {
      readonly mistakes: readonly [Mistake, ...Mistake[]];
      readonly warnings: readonly Mistake[];
      readonly ignored: readonly string[];
    };

/** Folders of other tools, which are not part of the mesh. */
const FOREIGN_FOLDERS = ['node_modules', 'cdk.out', 'dist', 'coverage'];

/**
 * Reads the mesh in a folder: every `*.yaml` and `*.yml` file there and one folder deeper, so that each actor may have
 * its own folder. Skips hidden files and the folders of other tools. A handler is relative to the document that names
 * it; `codeProblems` decides what a missing function or invalid syntax in its file is.
 */
export function readMesh(folder: string, codeProblems: CodeProblems = 'mistakes'): MeshReading {
  const problem = folderProblem(folder);
  if (problem !== undefined) return { mistakes: [{ place: folder, problem }], warnings: [], ignored: [] };
  const unread: Mistake[] = [];
  const files = manifestFiles(folder).flatMap((path) => readYamlFile(folder, path, unread));
  const reading = readManifest(files, handlerCheckIn(folder, { codeProblems }));
  const { warnings, ignored } = reading;
  const mistakes = [...unread, ...('mistakes' in reading ? reading.mistakes : [])];
  if (mistakes.length === 0 && 'manifest' in reading) {
    if (reading.manifest.actors.length > 0) return reading;
    mistakes.push({ place: folder, problem: emptyProblem(files, ignored) });
  }
  const [first, ...others] = mistakes;
  return first === undefined ? reading : { mistakes: [first, ...others], warnings, ignored };
}

function folderProblem(folder: string): string | undefined {
  if (isFolder(folder)) return undefined;
  if (isFile(folder)) return 'is a file; expected the folder of a mesh';
  let path = resolve(folder);
  // The first name that does not exist is the misspelt one.
  while (!isFolder(dirname(path)) && dirname(path) !== path) path = dirname(path);
  const beside = namesIn(dirname(path)).filter((name) => isFolder(join(dirname(path), name)));
  return `is not an existing folder${suggestion(basename(path), beside)}`;
}

function emptyProblem(files: readonly ManifestFile[], ignored: readonly string[]): string {
  const read = files.map(({ path }) => path).filter((path) => !ignored.includes(path));
  const found = [
    ...(files.length === 0 ? ['it has no .yaml files'] : []),
    ...(read.length === 0 ? [] : [`none is in ${excerpt(read.join(', '))}`]),
    ...(ignored.length === 0 ? [] : [`ignored as files of other tools: ${excerpt(ignored.join(', '))}`]),
  ];
  return `contains no document of kind "${ACTOR_KIND}": ${found.join('; ')}`;
}

/** The files of a mesh's manifest, relative to its folder. */
export function manifestFiles(folder: string): readonly string[] {
  const deeper = foldersIn(folder).flatMap((name) =>
    yamlIn(join(folder, name)).map((file) => `${name}/${file}`),
  );
  return [...yamlIn(folder), ...deeper];
}

/** Links may lead to one folder twice, or to the mesh's own. Its documents are read once. */
function foldersIn(folder: string): readonly string[] {
  const real = new Map([[realPath(folder), '.']]);
  for (const name of namesIn(folder)) {
    const isForeign = FOREIGN_FOLDERS.includes(name) || name.startsWith('.');
    const path = join(folder, name);
    if (isForeign || !isFolder(path)) continue;
    const own = realPath(path);
    const isLink = own !== join(realPath(folder), name);
    if (!real.has(own) || !isLink) real.set(own, name);
  }
  return [...real.values()].filter((name) => name !== '.').sort();
}

function yamlIn(folder: string): readonly string[] {
  return namesIn(folder).filter((name) => /^[^.].*\.ya?ml$/.test(name) && !isFolder(join(folder, name)));
}

function readYamlFile(folder: string, path: string, mistakes: Mistake[]): readonly ManifestFile[] {
  let bytes: Buffer | undefined;
  try {
    bytes = readFileSync(join(folder, path));
    return [{ path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }];
  } catch (error) {
    const text = bytes?.toString('latin1');
    // Another tool may use another encoding.
    if (text !== undefined && !namesOurs(text)) return [{ path, text: '' }];
    mistakes.push({ place: path, problem: `cannot be read: ${(error as Error).message}` });
    return [];
  }
}
