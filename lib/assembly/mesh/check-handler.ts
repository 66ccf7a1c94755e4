import { basename, dirname, join } from 'node:path';
import type { HandlerCheck } from '../../config/manifest/actor-document.ts';
import { fileOfHandler } from '../../config/manifest/handler-name.ts';
import { describeValue } from '../../core/text/describe-value.ts';
import { suggestion } from '../../core/text/nearest.ts';
import { isFile, isFolder, namesIn } from './path-kind.ts';

/** Checks that the file of a handler exists, relative to the folder of the document that names it. */
export function handlerCheckIn(meshFolder: string, where = 'next to this document'): HandlerCheck {
  return (runtime, document) => {
    const folder = join(meshFolder, dirname(document));
    switch (runtime.kind) {
      case 'node':
        return nodeProblem(runtime.handler, folder, where);
      case 'python':
        return pythonProblem(runtime.handler, folder, where);
      case 'image':
      case 'url':
        return undefined;
    }
  };
}

function nodeProblem(handler: string, folder: string, where: string): string | undefined {
  const file = fileOfHandler(handler) ?? '';
  const path = join(folder, file);
  if (isFile(path)) return undefined;
  const there = namesIn(dirname(path)).filter((name) => /\.[cm]?[jt]s$/.test(name));
  return `is ${describeValue(handler)}, but the file ${describeValue(file)} does not exist ${where}${suggestion(basename(file), there)}`;
}

/** Finds a module like Python does: packages and modules first; the remaining names are inside the last module. */
function pythonProblem(handler: string, folder: string, where: string): string | undefined {
  const parts = handler.split('.').slice(0, -1);
  let here = folder;
  for (const [index, part] of parts.entries()) {
    if (isFile(join(here, `${part}.py`))) return undefined;
    if (!isFolder(join(here, part))) {
      // Not a module: it may be a class inside the package.
      if (index > 0 && isFile(join(here, '__init__.py'))) return undefined;
      const module = parts.slice(0, index + 1).join('.');
      const file = `${parts.slice(0, index + 1).join('/')}.py`;
      const meant = suggestion(part, modulesIn(here));
      return `is ${describeValue(handler)}, but the module "${module}" ("${file}") does not exist ${where}${meant}`;
    }
    here = join(here, part);
  }
  if (isFile(join(here, '__init__.py'))) return undefined;
  const last = handler.split('.').at(-1);
  const within = modulesIn(here).map((module) => [...parts, module, last].join('.'));
  return `is ${describeValue(handler)}, but "${parts.join('/')}" is a folder without "__init__.py"; add the name of the module${suggestion(handler, within)}`;
}

function modulesIn(folder: string): readonly string[] {
  return namesIn(folder).flatMap((name) => {
    if (name.endsWith('.py') && name !== '__init__.py') return [name.slice(0, -'.py'.length)];
    return /^[^\W\d]\w*$/u.test(name) && isFile(join(folder, name, '__init__.py')) ? [name] : [];
  });
}
