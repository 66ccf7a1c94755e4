import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../config/settings/variables.ts';
import { describeValue } from '../../core/text/describe-value.ts';

export type PythonSearch =
  | {
      readonly python: string;
      readonly version: string;
      /** The virtual environment that it belongs to. Undefined for a Python on the PATH. */
      readonly environment?: string;
    }
  /** Why no interpreter can be used, and what to do. */
  | { readonly problem: string };

/** Names of virtual environments in a folder, in this order. */
const ENVIRONMENTS = ['.venv', 'venv'];
const MARKER = 'pyvenv.cfg';
const ON_PATH = ['python3', 'python'];
/** Prints the interpreter's path, because a version manager's shim costs 100 ms. */
const WHERE = 'import sys; print(sys.executable); print("%d.%d.%d" % sys.version_info[:3])';
const NEEDS = 'Python 3.9 or later';

/**
 * The Python that runs an actor's handler: the virtual environment of the first of these folders that has one, then the
 * activated one, then the PATH. An environment that cannot be used is a problem, because another Python lacks its packages.
 */
export function findPython(folders: readonly string[], shell: Environment): PythonSearch {
  const activated = shell['VIRTUAL_ENV'];
  const environment = [
    ...folders.flatMap((folder) => ENVIRONMENTS.map((name) => join(folder, name))),
    ...(activated ? [activated] : []),
  ].find(isEnvironment);
  return environment === undefined ? fromPath(shell) : fromEnvironment(environment, shell);
}

/** The files whose creation, replacement or deletion may change the result of `findPython`. */
export function environmentFiles(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    ENVIRONMENTS.flatMap((name) => [join(folder, name, MARKER), interpreterOf(join(folder, name))]),
  );
}

function interpreterOf(environment: string): string {
  return join(environment, 'bin/python');
}

/** A folder of this name may also be something else, such as a package. */
function isEnvironment(folder: string): boolean {
  return (
    existsSync(join(folder, MARKER)) || isLink(interpreterOf(folder)) || existsSync(interpreterOf(folder))
  );
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function fromEnvironment(environment: string, shell: Environment): PythonSearch {
  const path = interpreterOf(environment);
  const found = run(path, shell);
  const fix = `recreate it with "python3 -m venv --clear ${environment}" and install its packages, or delete ${environment}`;
  if (found === undefined)
    return { problem: `its Python ${describeValue(path)} ${brokenText(path)}; ${fix}` };
  if (!isSupported(found.version))
    return {
      problem: `its Python ${describeValue(path)} is Python ${found.version}, and handlers need ${NEEDS}; ${fix}`,
    };
  // Not the path that it reports: in an environment, the path of the link selects the packages.
  return { python: path, version: found.version, environment };
}

function brokenText(path: string): string {
  if (existsSync(path)) return 'cannot be started';
  if (isLink(path)) return `is a link to ${describeValue(lastLinkOf(path))}, which does not exist`;
  return 'does not exist';
}

/** Environments link `python` to `python3`, which links to the interpreter. */
function lastLinkOf(path: string): string {
  const target = readlinkSync(path);
  const next = target.startsWith('/') ? target : join(path, '..', target);
  return isLink(next) && next !== path ? lastLinkOf(next) : next;
}

function fromPath(shell: Environment): PythonSearch {
  const found = ON_PATH.flatMap((name) => run(name, shell) ?? []);
  const usable = found.find(({ version }) => isSupported(version));
  if (usable !== undefined) return usable;
  const [old] = found;
  if (old === undefined)
    return {
      problem: `its handler needs ${NEEDS}, which was not found on the PATH; install it and start the mesh again`,
    };
  return {
    problem: `its handler needs ${NEEDS}, and ${old.python} on the PATH is Python ${old.version}; install a newer one and start the mesh again`,
  };
}

/** The results by command, because a start takes long. Interpreters in environments may be replaced. */
const known = new Map<string, { readonly python: string; readonly version: string } | undefined>();

function run(command: string, shell: Environment) {
  const key = JSON.stringify([command, shell['PATH'], targetOf(command)]);
  if (!known.has(key)) known.set(key, started(command, shell));
  return known.get(key);
}

function targetOf(command: string): unknown {
  try {
    const target = realpathSync(command);
    const { ino, mtimeMs } = lstatSync(target);
    return [target, ino, mtimeMs];
  } catch {
    return undefined;
  }
}

function started(command: string, shell: Environment) {
  const options = { encoding: 'utf8', timeout: 10_000, env: shell } as const;
  const { status, stdout } = spawnSync(command, ['-c', WHERE], options);
  const [python = '', version = ''] = status === 0 ? stdout.trim().split('\n') : [];
  return python === '' || version === '' ? undefined : { python, version };
}

function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 9);
}
