import { PYTHON_ALIASES, PYTHON_BASE_EXCEPTIONS, PYTHON_ERRORS } from './python-errors.ts';

export type ErrorLanguage = 'python' | 'node';

/** An error class of the language itself or of its standard library. */
export interface StandardError {
  /** As the runtime reports it: `json.decoder.JSONDecodeError`. */
  readonly name: string;
  /** All its ancestors, without the end that every chain has. */
  readonly ancestors: readonly string[];
}

/** Errors of JavaScript and Node, by their ancestors below `Error`. */
const NODE_ERRORS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    [
      'AggregateError',
      'AssertionError',
      'CompileError',
      'DOMException',
      'EvalError',
      'LinkError',
      'RangeError',
      'ReferenceError',
      'RuntimeError',
      'SuppressedError',
      'SyntaxError',
      'TypeError',
      'URIError',
    ].map((name) => [name, []]),
  ),
  AbortError: ['DOMException'],
  DataCloneError: ['DOMException'],
  InvalidCharacterError: ['DOMException'],
  InvalidStateError: ['DOMException'],
  NotSupportedError: ['DOMException'],
  QuotaExceededError: ['DOMException'],
  TimeoutError: ['DOMException'],
};

const ERRORS = { python: PYTHON_ERRORS, node: NODE_ERRORS };
const BASES: readonly string[] = PYTHON_BASE_EXCEPTIONS;

/** The end of every chain of ancestors, as the runtimes report it. */
const TAILS = { python: ['Exception', 'BaseException', 'object'], node: ['Error', 'Exception'] } as const;

/**
 * Finds a standard error by the name that a runtime reports, or by a name that code uses for it: `JSONDecodeError` and
 * `json.JSONDecodeError` are `json.decoder.JSONDecodeError`. Undefined for any other class.
 */
export function standardError(name: string, language: ErrorLanguage): StandardError | undefined {
  const found = language === 'python' ? pythonName(name) : name;
  if (Object.hasOwn(ERRORS[language], found)) return { name: found, ancestors: ancestorsOf(found, language) };
  const isEnd = (TAILS[language] as readonly string[]).includes(found);
  return isEnd || (language === 'python' && BASES.includes(found))
    ? { name: found, ancestors: [] }
    : undefined;
}

/** The names that rules use without a module: built-in classes. */
export function builtInErrors(language: ErrorLanguage): readonly string[] {
  const names = [
    ...Object.keys(ERRORS[language]),
    ...TAILS[language],
    ...(language === 'python' ? BASES : []),
  ];
  return names.filter((name) => !name.includes('.') && name !== 'object');
}

/**
 * The `mro` of an error as its runtime would report it: the class, its ancestors (`given`, or the standard ones), and
 * the end of every chain. A class that is not a standard one derives from `Exception` directly.
 */
export function errorAncestry(
  type: string,
  given: readonly string[],
  language: ErrorLanguage,
): readonly string[] {
  const standard = standardError(type, language);
  const isBase = language === 'python' && standard !== undefined && BASES.includes(standard.name);
  const tail: readonly string[] = isBase ? TAILS.python.slice(1) : TAILS[language];
  const own = given.length > 0 ? given : (standard?.ancestors ?? []);
  return [
    ...[type, ...own].filter((name) => !tail.includes(name)),
    ...tail.slice(Math.max(0, tail.indexOf(type))),
  ];
}

function ancestorsOf(name: string, language: ErrorLanguage): readonly string[] {
  const direct = (Object.hasOwn(ERRORS[language], name) ? ERRORS[language][name] : undefined) ?? [];
  const [parent] = direct;
  if (parent === undefined || direct.length > 1) return direct;
  return [parent, ...ancestorsOf(parent, language)];
}

function pythonName(name: string): string {
  if (Object.hasOwn(PYTHON_ERRORS, name)) return name;
  const alias = Object.hasOwn(PYTHON_ALIASES, name) ? PYTHON_ALIASES[name] : undefined;
  if (alias !== undefined) return alias;
  const plain = name.replace(/^builtins\./, '');
  if (Object.hasOwn(PYTHON_ERRORS, plain)) return plain;
  const [top, last] = [name.slice(0, Math.max(0, name.indexOf('.'))), name.slice(name.lastIndexOf('.') + 1)];
  const matching = [...Object.keys(PYTHON_ERRORS), ...BASES].filter(
    (one) => one.endsWith(`.${last}`) && (top === '' || one.startsWith(`${top}.`)),
  );
  return matching.length === 1 ? (matching[0] ?? name) : name;
}
