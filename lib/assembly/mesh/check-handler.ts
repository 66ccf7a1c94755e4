import { basename, dirname, join, relative } from 'node:path';
import type { HandlerCheck } from '../../config/manifest/actor-document.ts';
import { fileOfHandler } from '../../config/manifest/handler-name.ts';
import { describeValue } from '../../core/text/describe-value.ts';
import { suggestion } from '../../core/text/nearest.ts';
import { javaScriptExports } from './handler-code/javascript-exports.ts';
import { functionProblem } from './handler-code/missing-function.ts';
import { pythonNames } from './handler-code/python-names.ts';
import { isFile, isFolder, namesIn } from './path-kind.ts';

/** How problems inside the file of a handler are reported: a missing function and invalid syntax. */
export type CodeProblems = 'mistakes' | 'warnings' | 'ignored';

interface HandlerCheckOptions {
  /** Where files are searched, as messages say it. */
  readonly where?: string;
  readonly codeProblems?: CodeProblems;
}

/**
 * Checks that the file of a handler exists, relative to the folder of the document that names it, and that the function
 * is in it. Nothing is run: a function that may exist passes.
 */
export function handlerCheckIn(
  meshFolder: string,
  { where = 'next to this document', codeProblems = 'mistakes' }: HandlerCheckOptions = {},
): HandlerCheck {
  return (runtime, document) => {
    if (runtime.kind !== 'node' && runtime.kind !== 'python') return undefined;
    const { kind, handler } = runtime;
    const folder = join(meshFolder, dirname(document));
    const found = kind === 'node' ? nodeFile(handler, folder, where) : pythonFile(handler, folder, where);
    if ('problem' in found) return { problem: found.problem, isWarning: false };
    if (codeProblems === 'ignored') return undefined;
    const problem = codeProblem(kind, found);
    if (problem === undefined) return undefined;
    return {
      problem: `is ${describeValue(handler)}, ${problem}`,
      isWarning: codeProblems === 'warnings',
    };
  };
}

/** The file of a handler, and the path of the function inside it. */
type HandlerFile =
  | { readonly problem: string }
  | { readonly path: string; readonly file: string; readonly steps: readonly string[] };

function codeProblem(
  kind: 'node' | 'python',
  { path, file, steps }: Exclude<HandlerFile, { readonly problem: string }>,
): string | undefined {
  const code = kind === 'node' ? javaScriptExports(path, file) : { names: pythonNames(path) };
  if ('names' in code) return functionProblem({ file, ...code }, steps);
  return `but ${code.place} is not valid: ${code.syntaxError}`;
}

function nodeFile(handler: string, folder: string, where: string): HandlerFile {
  const file = fileOfHandler(handler) ?? '';
  const path = join(folder, file);
  if (isFile(path)) return { path, file, steps: handler.slice(file.length + 1).split('.') };
  const there = namesIn(dirname(path)).filter((name) => /\.[cm]?[jt]s$/.test(name));
  const problem = `is ${describeValue(handler)}, but the file ${describeValue(file)} does not exist ${where}${suggestion(basename(file), there)}`;
  return { problem };
}

/** Finds a module like Python does: packages and modules first; the remaining names are inside the last module. */
function pythonFile(handler: string, folder: string, where: string): HandlerFile {
  const all = handler.split('.');
  const parts = all.slice(0, -1);
  let here = folder;
  const foundIn = (name: string, used: number): HandlerFile => {
    const path = join(here, name);
    return { path, file: relative(folder, path), steps: all.slice(used) };
  };
  for (const [index, part] of parts.entries()) {
    const isPackage = isFile(join(here, part, '__init__.py'));
    if (!isPackage && isFile(join(here, `${part}.py`))) return foundIn(`${part}.py`, index + 1);
    if (!isFolder(join(here, part))) {
      // Not a module: it may be a class inside the package.
      if (index > 0 && isFile(join(here, '__init__.py'))) return foundIn('__init__.py', index);
      const module = parts.slice(0, index + 1).join('.');
      const file = `${parts.slice(0, index + 1).join('/')}.py`;
      const meant = suggestion(part, modulesIn(here));
      return {
        problem: `is ${describeValue(handler)}, but the module "${module}" ("${file}") does not exist ${where}${meant}`,
      };
    }
    here = join(here, part);
  }
  if (isFile(join(here, '__init__.py'))) return foundIn('__init__.py', parts.length);
  const last = handler.split('.').at(-1);
  const within = modulesIn(here).map((module) => [...parts, module, last].join('.'));
  return {
    problem: `is ${describeValue(handler)}, but "${parts.join('/')}" is a folder without "__init__.py"; add the name of the module${suggestion(handler, within)}`,
  };
}

function modulesIn(folder: string): readonly string[] {
  return namesIn(folder).flatMap((name) => {
    if (name.endsWith('.py') && name !== '__init__.py') return [name.slice(0, -'.py'.length)];
    return /^[^\W\d]\w*$/u.test(name) && isFile(join(folder, name, '__init__.py')) ? [name] : [];
  });
}
