import { readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tracebackOf } from '../error-object.ts';
import { StartupError } from '../startup-error.ts';
import { valueAt } from '../value-at.ts';
import { didYouMean } from './did-you-mean.ts';

/** The exports of the user's file. Throws a StartupError if the file is missing or cannot be loaded. */
export async function importFile(file: string): Promise<object> {
  const path = resolve(file);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    const scripts = filesIn(dirname(path)).filter((name) => /\.[cm]?[jt]s$/.test(name));
    const hint = didYouMean(basename(path), scripts);
    throw new StartupError(
      `file ${path} was not found${hint || '; give its path relative to the folder where the runtime starts'}`,
    );
  }
  try {
    return path.endsWith('.cjs') ? await requireFile(path) : await import(pathToFileURL(path).href);
  } catch (error) {
    throw importError(path, error);
  }
}

/** Loads a CommonJS file without the loader of ES modules, which takes longer. The file may export a promise. */
async function requireFile(path: string): Promise<object> {
  const exported: unknown = createRequire(path)(path);
  if (exported instanceof Promise) return await exported;
  const isFromModule = valueAt(exported, '__esModule') === true;
  return isFromModule ? (exported as object) : { default: exported };
}

function importError(path: string, error: unknown): StartupError {
  const userStack = userStackOf(error);
  const message = String(valueAt(error, 'message') ?? error).split('\n')[0];
  const code = valueAt(error, 'code');
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND')
    return new StartupError(`an import was not found: ${message}; install the package, or fix the import`, {
      cause: error,
    });
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return new StartupError(
      `${locationIn(error) ?? path}: ${message}; avoid this syntax, or compile the file to JavaScript first`,
      { cause: error },
    );
  const isThrownByUser = /^ {4}at (?!.*node:)/m.test(userStack);
  if (valueAt(error, 'name') === 'SyntaxError' && !isThrownByUser) {
    const location = locationIn(error) ?? locationFromCheck(path) ?? `${path} or a file that it imports`;
    return new StartupError(`${location}: SyntaxError: ${message}`, { cause: error });
  }
  const name = valueAt(error, 'name') ?? 'a thrown value';
  return new StartupError(`loading ${path} failed with ${name}: ${message}`, {
    userStack,
    cause: error,
  });
}

/** The stack without the frames of the runtime and of Node itself. */
export function userStackOf(error: unknown): string {
  const lines = tracebackOf(error).split('\n');
  return lines.filter((line) => !/^ {4}at .*node:/.test(line)).join('\n');
}

/** The `file:line` that Node writes above the stack of most syntax errors. */
function locationIn(error: unknown): string | undefined {
  const first = String(valueAt(error, 'stack')).split('\n')[0] ?? '';
  return /^(?:file:\/\/)?(\/.*:\d+)$/.exec(first)?.[1];
}

function locationFromCheck(path: string): string | undefined {
  // Loaded only here, because it is rarely needed.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8', timeout: 10_000 });
  return locationIn({ stack: stderr });
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
