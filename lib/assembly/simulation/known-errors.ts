import type { RuntimeSpec } from '../../config/manifest/manifest.ts';

/** Python's built-in exceptions by parent class. Those without an entry derive from `Exception` directly. */
const PYTHON: Readonly<Record<string, readonly string[]>> = {
  ArithmeticError: ['FloatingPointError', 'OverflowError', 'ZeroDivisionError'],
  ConnectionError: [
    'BrokenPipeError',
    'ConnectionAbortedError',
    'ConnectionRefusedError',
    'ConnectionResetError',
  ],
  ImportError: ['ModuleNotFoundError'],
  IndentationError: ['TabError'],
  LookupError: ['IndexError', 'KeyError'],
  NameError: ['UnboundLocalError'],
  OSError: [
    'BlockingIOError',
    'ChildProcessError',
    'ConnectionError',
    'FileExistsError',
    'FileNotFoundError',
    'InterruptedError',
    'IsADirectoryError',
    'NotADirectoryError',
    'PermissionError',
    'ProcessLookupError',
    'TimeoutError',
  ],
  RuntimeError: ['NotImplementedError', 'PythonFinalizationError', 'RecursionError'],
  SyntaxError: ['IndentationError'],
  UnicodeError: ['UnicodeDecodeError', 'UnicodeEncodeError', 'UnicodeTranslateError'],
  ValueError: ['UnicodeError', 'json.decoder.JSONDecodeError'],
};

const NODE: Readonly<Record<string, readonly string[]>> = {
  DOMException: ['AbortError', 'TimeoutError'],
};

/** Python's built-in exceptions that do not derive from `Exception`. */
const NOT_AN_EXCEPTION = ['SystemExit', 'KeyboardInterrupt', 'GeneratorExit', 'CancelledError'];

const PARENTS = { python: parentsIn(PYTHON), node: parentsIn(NODE) };

/** The end of every chain, as the runtimes report it. */
const TAILS = { python: ['Exception', 'BaseException', 'object'], node: ['Error', 'Exception'] } as const;

/**
 * The `mro` of an error as its runtime would report it: the class, its ancestors (`given`, or the built-in ones of the
 * language), and the end of every chain.
 */
export function mroOf(
  type: string,
  given: readonly string[],
  runtime: RuntimeSpec['kind'],
): readonly string[] {
  const language = runtime === 'node' ? 'node' : 'python';
  const isBase = language === 'python' && NOT_AN_EXCEPTION.includes(type.slice(type.lastIndexOf('.') + 1));
  const tail: readonly string[] = isBase ? TAILS.python.slice(1) : TAILS[language];
  const own = given.length > 0 ? given : chainFrom(type, PARENTS[language]);
  return [
    ...[type, ...own].filter((name) => !tail.includes(name)),
    ...tail.slice(Math.max(0, tail.indexOf(type))),
  ];
}

function chainFrom(type: string, parents: ReadonlyMap<string, string>): readonly string[] {
  const parent = parents.get(type);
  return parent === undefined ? [] : [parent, ...chainFrom(parent, parents)];
}

function parentsIn(children: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(children).flatMap(([parent, names]) =>
      names.map((name): [string, string] => [name, parent]),
    ),
  );
}
