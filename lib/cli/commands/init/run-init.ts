import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFolder } from '../../../assembly/mesh/path-kind.ts';
import { SOURCE_CONDITION } from '../../../config/settings/source-condition.ts';
import { EXIT } from '../../exit-status.ts';
import type { Terminal } from '../../output/terminal.ts';

interface InitOptions {
  /** Adds an actor in Python. */
  readonly python?: boolean;
}

/** This package: the source tree or the built package. */
const ROOT = dirname(findPackageJSON(import.meta.url) ?? fileURLToPath(import.meta.url));

/** `asya init`: creates a mesh from a template. */
export function runInit(
  { cwd, print, printError }: Terminal,
  { python = false }: InitOptions,
  folder: string,
): number {
  const path = resolve(cwd, folder);
  try {
    const problem = problemWith(path);
    if (problem !== undefined) {
      printError(`asya: ${folder} ${problem}; expected a new or empty folder`);
      return EXIT.usageError;
    }
    const name = packageName(basename(path));
    createFolder(path);
    const dependency = dependencyOn(ROOT, path);
    const files = templateFiles(python, { name, python: pythonPackage(dependency) });
    files.set('package.json', packageText(name, dependency, python));
    if (isCheckout(dependency)) files.set('tsconfig.json', withSourceCondition(files.get('tsconfig.json')));
    for (const [file, text] of files) writeFileSync(join(path, file), text, { flag: 'wx' });
    print(`Created the mesh ${name}: ${[...files.keys()].toSorted().join(', ')}`);
    for (const line of nextCommands(relative(cwd, path))) print(line);
    return EXIT.ok;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    printError(`asya: cannot create ${folder}: ${error.message}`);
    return EXIT.failed;
  }
}

const SHOWN_NAMES = 3;

function problemWith(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  if (!isFolder(path)) return 'is a file';
  // A fresh git repository counts as empty.
  const names = readdirSync(path).filter((name) => name !== '.git');
  if (names.length === 0) return undefined;
  const others = names.length - SHOWN_NAMES;
  const more = others > 0 ? ` and ${others} more` : '';
  return `is not empty: it contains ${names.slice(0, SHOWN_NAMES).join(', ')}${more}`;
}

/** One level at a time: `mkdirSync` with `recursive` hangs if a parent rejects new folders, e.g. in /proc. */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  mkdirSync(path);
}

/** Texts by file name, with the values of their placeholders. npm does not pack `.gitignore` files, so the template's has no dot. */
function templateFiles(isPython: boolean, values: Readonly<Record<string, string>>): Map<string, string> {
  const files = new Map<string, string>();
  for (const folder of isPython ? ['mesh', 'mesh-python'] : ['mesh']) {
    const template = join(ROOT, 'templates', folder);
    for (const file of readdirSync(template)) {
      const text = readFileSync(join(template, file), 'utf8');
      const filled = text.replace(/\{\{(\w+)\}\}/g, (_, name) => values[name] ?? '');
      files.set(file === 'gitignore' ? '.gitignore' : file, filled);
    }
  }
  return files;
}

function isCheckout(dependency: string): boolean {
  return dependency.startsWith('file:');
}

function withSourceCondition(tsconfig = '{}'): string {
  const { compilerOptions, ...others } = JSON.parse(tsconfig) as { readonly compilerOptions: object };
  const options = { ...compilerOptions, customConditions: [SOURCE_CONDITION] };
  return `${JSON.stringify({ compilerOptions: options, ...others }, null, 2)}\n`;
}

/** The folder of the Python package `asya` in a mesh. The published package contains it in the build. */
function pythonPackage(dependency: string): string {
  return `node_modules/${packageAt(ROOT).name}/${isCheckout(dependency) ? '' : 'dist/'}runtimes/python`;
}

interface Package {
  readonly name: string;
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function packageAt(path: string): Package {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Package;
}

/** What the mesh needs besides asya, in the versions that asya is tested with. */
const TOOLS = ['@types/node', 'node', 'typescript'];

/** Includes the Node version that this package uses, so that `npx asya` works if the machine has an older one. */
function packageText(name: string, dependency: string, isPython: boolean): string {
  const own = packageAt(ROOT);
  const template = packageAt(join(ROOT, 'templates/mesh'));
  const condition = isCheckout(dependency) ? ` --conditions=${SOURCE_CONDITION}` : '';
  const tests = [`node${condition} --test`, ...(isPython ? ['python3 -m unittest'] : [])];
  const mesh = {
    ...template,
    name,
    scripts: { ...template.scripts, test: tests.join(' && ') },
    dependencies: { [own.name]: dependency },
    devDependencies: Object.fromEntries(TOOLS.map((tool) => [tool, own.devDependencies[tool]])),
  };
  return `${JSON.stringify(mesh, null, 2)}\n`;
}

/** The version of an installed package, or the path of a checkout, which npm links. */
export function dependencyOn(root: string, mesh: string): string {
  if (root.split(sep).includes('node_modules')) return `^${packageAt(root).version}`;
  return `file:${relative(realpathSync(mesh), realpathSync(root))}`;
}

const MAX_NAME = 100;
const RESERVED = ['node_modules', 'favicon.ico'];

/** A valid npm package name, as close to the folder's name as possible. */
export function packageName(folder: string): string {
  const name = folder
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9._-]+/g, '-')
    .slice(0, MAX_NAME)
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  if (name === '' || RESERVED.includes(name)) return 'my-mesh';
  // npm cannot install a package that has the name of one of its dependencies.
  return ['node', packageAt(ROOT).name].includes(name) ? `${name}-mesh` : name;
}

function nextCommands(folder: string): readonly string[] {
  const isQuoted = !/^[\w./-]+$/.test(folder);
  const shown = isQuoted ? `'${folder.replaceAll("'", `'\\''`)}'` : folder;
  return [
    '',
    'Next:',
    ...(folder === '' ? [] : [`  cd ${shown}`]),
    '  npm install',
    '  npm test',
    '  npm start',
    'Then, in another shell in the same folder:',
    `  npx asya send hello --payload '{"name":"you"}' --wait`,
  ];
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
