import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lookAt, tracebackOf } from './error-object.ts';

export type Handler = (payload: unknown, context?: unknown) => unknown;

/** Why the runtime cannot start: one sentence, and the user's own frames where it was the user's code that threw. */
export class Refusal extends Error {
  readonly frames: string;

  constructor(sentence: string, raised?: { readonly frames?: string; readonly cause?: unknown }) {
    super(sentence, { cause: raised?.cause });
    this.frames = raised?.frames ?? '';
  }
}

const FORM = 'it must be written FILE.EXPORT or FILE.CLASS.METHOD, such as ./score.ts.score';
const NAME =
  /^(?<file>.+\.(?:js|mjs|cjs|ts|mts|cts))\.(?<path>[\p{ID_Start}$_][\p{ID_Continue}$]*(?:\.[\p{ID_Start}$_][\p{ID_Continue}$]*)*)$/u;

/** The function that `./score.ts.score` or `./score.ts.Scorer.score` names. */
export async function loadHandler(name: string): Promise<Handler> {
  const { file = '', path = '' } = NAME.exec(name)?.groups ?? {};
  if (file === '') throw new Refusal(FORM);
  const exports = await importFile(file);
  let holder: unknown = exports;
  let found: unknown = exports;
  let title = `"${file}"`;
  for (const [index, part] of path.split('.').entries()) {
    holder = isClass(found) && !isStatic(found, part) ? makeInstance(found, part) : found;
    found = lookAt(holder, part);
    // The names of a CommonJS module are not always seen from outside; its exports are all in `default`.
    if (found === undefined && index === 0) found = lookAt(exports, `default.${part}`);
    if (found === undefined)
      throw new Refusal(`${title} has no "${part}"${didYouMean(part, namesIn(holder))}`);
    title = `"${part}"`;
  }
  if (isClass(found)) throw new Refusal(`${title} is a class; name its method too; ${FORM}`);
  if (typeof found !== 'function') throw new Refusal(`${title} is a ${typeof found}; ${FORM}`);
  if (found.length > 2) {
    throw new Refusal(
      `${title} needs ${found.length} arguments, but gets the payload and, at most, a context; give the others defaults`,
    );
  }
  return holder === exports ? (found as Handler) : (found.bind(holder) as Handler);
}

async function importFile(file: string): Promise<object> {
  const path = resolve(file);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    const there = filesIn(dirname(path)).filter((name) => /\.[cm]?[jt]s$/.test(name));
    const hint = didYouMean(basename(path), there);
    throw new Refusal(`there is no file ${path}${hint || '; give its path from the folder you start it in'}`);
  }
  try {
    return (await import(pathToFileURL(path).href)) as object;
  } catch (error) {
    throw refusalFromImport(path, error);
  }
}

function refusalFromImport(path: string, error: unknown): Refusal {
  const frames = userFrames(error);
  const message = String(lookAt(error, 'message') ?? error).split('\n')[0];
  const code = lookAt(error, 'code');
  if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND')
    return new Refusal(`it imports what is not there: ${message}; install it, or correct the path`, {
      cause: error,
    });
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return new Refusal(
      `${placeIn(error) ?? path}: ${message}; write it without, or compile the file to JavaScript first`,
      { cause: error },
    );
  if (lookAt(error, 'name') === 'SyntaxError' && !/^ {4}at (?!.*node:)/m.test(frames)) {
    const place = placeIn(error) ?? placeFromCheck(path) ?? `${path}, or what it imports,`;
    return new Refusal(`${place} cannot be read: ${message}; correct it`, { cause: error });
  }
  const name = lookAt(error, 'name') ?? 'a thrown value';
  return new Refusal(`${path} failed while it was loaded, with ${name}: ${message}`, {
    frames,
    cause: error,
  });
}

function userFrames(error: unknown): string {
  const lines = tracebackOf(error).split('\n');
  return lines.filter((line) => !/^ {4}at .*node:/.test(line)).join('\n');
}

/** Node writes `file:line` above the stack, but not for every syntax error. */
function placeIn(error: unknown): string | undefined {
  const first = String(lookAt(error, 'stack')).split('\n')[0] ?? '';
  return /^(?:file:\/\/)?(\/.*:\d+)$/.exec(first)?.[1];
}

function placeFromCheck(path: string): string | undefined {
  const { stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8', timeout: 10_000 });
  return placeIn({ stack: stderr });
}

type Class = new () => object;

function isClass(value: unknown): value is Class {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}

function isStatic(made: Class, name: string): boolean {
  return name in made && !(name in Function.prototype);
}

function makeInstance(made: Class, method: string): object {
  if (!(method in made.prototype)) {
    const there = namesIn(made.prototype);
    throw new Refusal(`"${made.name}" has no "${method}"${didYouMean(method, there)}`);
  }
  if (made.length > 0) {
    throw new Refusal(
      `"${made.name}" needs arguments (${made.length}), but is made without; give them defaults`,
    );
  }
  try {
    return new made();
  } catch (error) {
    const told = `${lookAt(error, 'name') ?? 'a thrown value'}: ${lookAt(error, 'message') ?? error}`;
    throw new Refusal(`"${made.name}" failed while it was made, with ${told}`, {
      frames: userFrames(error),
      cause: error,
    });
  }
}

function namesIn(holder: unknown): string[] {
  return [holder, lookAt(holder, 'default')].flatMap((one) =>
    typeof one !== 'object' || one === null
      ? []
      : Object.getOwnPropertyNames(one).filter(
          (name) => name !== 'constructor' && typeof lookAt(one, name) === 'function',
        ),
  );
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function didYouMean(typed: string, names: readonly string[]): string {
  const ranked = names.map((name) => [editsBetween(typed, name), name] as const).sort(([a], [b]) => a - b);
  return ranked[0] === undefined ? '' : `; did you mean "${ranked[0][1]}"?`;
}

function editsBetween(from: string, to: string): number {
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const [left = 0, above = 0, both = 0] = [current[column - 1], last[column], last[column - 1]];
      current.push(Math.min(left + 1, above + 1, both + (isSame ? 0 : 1)));
    }
    last = current;
  }
  return last[to.length] ?? 0;
}
