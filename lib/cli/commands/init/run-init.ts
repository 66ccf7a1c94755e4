import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFolder } from '../../../assembly/mesh/path-kind.ts';
import { EXIT } from '../../exit.ts';

export interface Init {
  /** As it was typed, from the working directory. */
  readonly folder: string;
  readonly cwd: string;
  /** An actor in Python too. */
  readonly isPython: boolean;
  readonly write: (line: string) => void;
  readonly complain: (words: string) => void;
}

/** The package itself, as it stands here or as it was built. */
const ROOT = dirname(findPackageJSON(import.meta.url) ?? fileURLToPath(import.meta.url));

/** `asya init`: a new mesh from a template. Returns the exit status. */
export function runInit({ folder, cwd, isPython, write, complain }: Init): number {
  const path = resolve(cwd, folder);
  try {
    const problem = problemWith(path);
    if (problem !== undefined) {
      complain(`asya: ${folder} ${problem}; name a folder that is new or empty`);
      return EXIT.mistaken;
    }
    const name = packageName(basename(path));
    const files = templateFiles(isPython, name);
    makeFolder(path);
    files.set('package.json', packageText(name, dependencyOn(ROOT, path)));
    for (const [file, text] of files) writeFileSync(join(path, file), text, { flag: 'wx' });
    write(`A new mesh, ${name}: ${[...files.keys()].toSorted().join(', ')}`);
    for (const line of nextCommands(relative(cwd, path))) write(line);
    return EXIT.fine;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    complain(`asya: ${folder} cannot be made a mesh: ${error.message}`);
    return EXIT.failed;
  }
}

const SHOWN_NAMES = 3;

function problemWith(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  if (!isFolder(path)) return 'is a file';
  // A repository that was made for it is no reason to refuse.
  const there = readdirSync(path).filter((name) => name !== '.git');
  if (there.length === 0) return undefined;
  const others = there.length - SHOWN_NAMES;
  const more = others > 0 ? ` and ${others} more` : '';
  return `is not empty: it holds ${there.slice(0, SHOWN_NAMES).join(', ')}${more}`;
}

/** One by one: Node's own `recursive` never comes back where a folder above takes none, as in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

/** By name, with their text. npm leaves out a `.gitignore` where it packs, so the template's has no dot. */
function templateFiles(isPython: boolean, name: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const folder of isPython ? ['mesh', 'mesh-python'] : ['mesh']) {
    const template = join(ROOT, 'templates', folder);
    for (const file of readdirSync(template)) {
      const text = readFileSync(join(template, file), 'utf8').replaceAll('{{name}}', name);
      files.set(file === 'gitignore' ? '.gitignore' : file, text);
    }
  }
  return files;
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function packageAt(path: string): Package {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Package;
}

/** With the Node that we run on ourselves, so that `npx asya` works where the machine has an older one. */
function packageText(name: string, dependency: string): string {
  const own = packageAt(ROOT);
  const mesh = {
    ...packageAt(join(ROOT, 'templates/mesh')),
    name,
    dependencies: { [own.name]: dependency },
    devDependencies: { node: own.devDependencies['node'] },
  };
  return `${JSON.stringify(mesh, null, 2)}\n`;
}

/** An installed package by its version; a checkout by its path, which npm only links. */
export function dependencyOn(root: string, mesh: string): string {
  if (root.split(sep).includes('node_modules')) return `^${packageAt(root).version}`;
  return `file:${relative(realpathSync(mesh), realpathSync(root))}`;
}

const MAX_NAME = 100;
const RESERVED = ['node_modules', 'favicon.ico'];

/** What npm takes as the name of a package, as near to a folder's name as can be. */
export function packageName(folder: string): string {
  const mended = folder
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9._-]+/g, '-')
    .slice(0, MAX_NAME)
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  if (mended === '' || RESERVED.includes(mended)) return 'my-mesh';
  // A package that is called as one it depends on cannot be installed.
  return ['node', packageAt(ROOT).name].includes(mended) ? `${mended}-mesh` : mended;
}

function nextCommands(folder: string): readonly string[] {
  const isQuoted = !/^[\w./-]+$/.test(folder);
  const shown = isQuoted ? `'${folder.replaceAll("'", `'\\''`)}'` : folder;
  return [
    '',
    'Next:',
    ...(folder === '' ? [] : [`  cd ${shown}`]),
    '  npm install',
    '  npm start',
    'and in another shell, in the same folder:',
    `  npx asya send hello --payload '{"name":"you"}' --wait`,
  ];
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
