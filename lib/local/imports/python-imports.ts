import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type PythonImport, pythonStatements } from './python-statements.ts';
import { realFile } from './real-file.ts';

/** The imports of each Python file when it was last complete, by path. */
export type KnownPythonImports = Map<string, readonly PythonImport[]>;

/**
 * Where the modules that a handler imports are or may be: files that do not exist count too, because creating them changes
 * what Python imports. `roots` are the folders in which absolute imports are found; packages that are installed elsewhere
 * are not followed.
 */
export function pythonFiles(
  handler: string,
  roots: readonly string[],
  known: KnownPythonImports,
): ReadonlySet<string> {
  const found = new Set(candidates(handler.split('.').slice(0, -1), roots));
  // The loop also visits the paths that are added to the set while it runs.
  for (const path of found) {
    const file = path.endsWith('.py') ? realFile(path) : undefined;
    if (file === undefined) continue;
    found.add(file);
    for (const one of importsOf(path, known))
      for (const candidate of candidatesOf(one, path, roots)) found.add(candidate);
  }
  return found;
}

function importsOf(path: string, known: KnownPythonImports): readonly PythonImport[] {
  const { imports, isComplete } = pythonStatements(textOf(path));
  if (!isComplete) return [...imports, ...(known.get(path) ?? [])];
  known.set(path, imports);
  return imports;
}

function candidatesOf(
  { level, module, names }: PythonImport,
  importer: string,
  roots: readonly string[],
): readonly string[] {
  const steps = module === '' ? [] : module.split('.');
  const from = level === 0 ? roots : [Array.from({ length: level }).reduce<string>(dirname, importer)];
  if (names.length === 0) return candidates(steps, from);
  return names.flatMap((name) => candidates([...steps, name], from));
}

/**
 * The files of a dotted name, as Python finds them: in each folder first a package, then a module. The names after a module
 * are inside of it.
 */
function candidates(steps: readonly string[], roots: readonly string[]): readonly string[] {
  const [first, ...rest] = steps;
  if (first === undefined) return roots.map((root) => join(root, '__init__.py'));
  const paths: string[] = [];
  for (const root of roots) {
    const folder = join(root, first);
    const files = [join(folder, '__init__.py'), join(root, `${first}.py`)];
    const existing = files.find(isFile);
    paths.push(...(existing === undefined ? files : files.slice(0, files.indexOf(existing) + 1)));
    if (rest.length > 0 && existing !== files[1]) paths.push(...candidates(rest, [folder]));
    if (existing !== undefined) break;
  }
  return paths;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isFile(path: string): boolean {
  return realFile(path) !== undefined;
}
