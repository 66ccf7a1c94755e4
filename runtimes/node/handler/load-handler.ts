import { StartupError } from '../startup-error.ts';
import { valueAt } from '../value-at.ts';
import { didYouMean } from './did-you-mean.ts';
import { importFile, userStackOf } from './import-file.ts';

export type Handler = (payload: unknown, context?: unknown) => unknown;

const NAME =
  /^(?<file>.+\.(?:js|mjs|cjs|ts|mts|cts))\.(?<path>[\p{ID_Start}$_][\p{ID_Continue}$]*(?:\.[\p{ID_Start}$_][\p{ID_Continue}$]*)*)$/u;

/** The function that `./score.ts.score` or `./score.ts.Scorer.score` names. Throws a StartupError if it does not exist. */
export async function loadHandler(name: string): Promise<Handler> {
  const { file = '', path = '' } = NAME.exec(name)?.groups ?? {};
  if (file === '') {
    throw new StartupError(
      "the handler's name must have the form FILE.EXPORT or FILE.CLASS.METHOD, for example ./score.ts.score",
    );
  }
  const exports = await importFile(file);
  let owner: unknown = exports;
  let found: unknown = exports;
  let title = `"${file}"`;
  for (const [index, part] of path.split('.').entries()) {
    owner = isClass(found) && !isStatic(found, part) ? createInstance(found, part) : found;
    found = valueAt(owner, part);
    // Node does not detect every export name of a CommonJS module; `default` always contains all of them.
    if (found === undefined && index === 0) found = valueAt(exports, `default.${part}`);
    if (found === undefined)
      throw new StartupError(
        `${title} has no "${part}"${didYouMean(part, functionNamesIn(owner)) || '; define it'}`,
      );
    title = `"${part}"`;
  }
  if (isClass(found))
    throw new StartupError(`${title} is a class; name one of its methods: FILE.CLASS.METHOD`);
  if (typeof found !== 'function')
    throw new StartupError(`${title} has type ${typeof found}; expected a function or method`);
  if (found.length > 2) {
    throw new StartupError(
      `the handler requires ${found.length} arguments, but is called with the payload and at most a context; ` +
        'give the others defaults',
    );
  }
  return owner === exports ? (found as Handler) : (found.bind(owner) as Handler);
}

type Class = new () => object;

function isClass(value: unknown): value is Class {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value));
}

function isStatic(owner: Class, name: string): boolean {
  return name in owner && !(name in Function.prototype);
}

function createInstance(owner: Class, method: string): object {
  if (!(method in owner.prototype)) {
    const methods = functionNamesIn(owner.prototype);
    throw new StartupError(
      `"${owner.name}" has no "${method}"${didYouMean(method, methods) || '; define it'}`,
    );
  }
  if (owner.length > 0) {
    throw new StartupError(
      `the constructor of "${owner.name}" requires arguments (${owner.length}), but is called without any; ` +
        'give them defaults',
    );
  }
  try {
    return new owner();
  } catch (error) {
    const reason = `${valueAt(error, 'name') ?? 'a thrown value'}: ${valueAt(error, 'message') ?? error}`;
    throw new StartupError(`creating an instance of "${owner.name}" failed with ${reason}`, {
      userStack: userStackOf(error),
      cause: error,
    });
  }
}

function functionNamesIn(owner: unknown): string[] {
  return [owner, valueAt(owner, 'default')].flatMap((object) =>
    typeof object !== 'object' || object === null
      ? []
      : Object.getOwnPropertyNames(object).filter(
          (name) => name !== 'constructor' && typeof valueAt(object, name) === 'function',
        ),
  );
}
