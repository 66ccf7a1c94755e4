import { AssertionError } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { mroOf } from '../../lib/assembly/simulation/known-errors.ts';
import { PYTHON_ALIASES, PYTHON_ERRORS } from '../../lib/core/policy/python-errors.ts';
import { standardError } from '../../lib/core/policy/standard-errors.ts';
import { errorObjectFrom } from '../../runtimes/node/error-object.ts';
import { PYTHON } from '../sidecar/sidecar-process.ts';

/** Python's built-in exceptions with their `__mro__`. */
const FROM_PYTHON: Readonly<Record<string, readonly string[]>> = JSON.parse(
  execFileSync(PYTHON, [
    '-c',
    `import builtins, json
kinds = [k for k in vars(builtins).values() if isinstance(k, type) and issubclass(k, Exception)]
groups = getattr(builtins, "BaseExceptionGroup", ())
plain = [k for k in kinds if k.__name__[0] != "_" and not issubclass(k, groups)]
print(json.dumps({k.__name__: [a.__name__ for a in k.__mro__] for k in plain}))`,
  ]).toString(),
);

const DESCRIBE = `import importlib, json, sys
def name(k):
    return k.__qualname__ if k.__module__ == "builtins" else k.__module__ + "." + k.__qualname__
def found(path):
    module, _, last = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module or "builtins"), last)
    except (ImportError, AttributeError):
        return None
def is_exception(k):
    return isinstance(k, type) and issubclass(k, BaseException)
def mro(k):
    return [name(a) for a in k.__mro__ if is_exception(a) or a is object]
given = json.loads(sys.argv[1])
`;

/** Runs this Python code, which prints JSON about the given names. */
function python<T>(code: string, given: readonly string[]): T {
  return JSON.parse(
    execFileSync(PYTHON, ['-W', 'ignore', '-c', DESCRIBE + code, JSON.stringify(given)], {
      encoding: 'utf8',
    }),
  );
}

type Mros = Readonly<Record<string, readonly string[]>>;

/** Their `__mro__`. Without the classes that this version of Python does not have, or has elsewhere. */
function mrosOf(names: readonly string[]): Mros {
  return python(
    'print(json.dumps({n: mro(k) for n in given for k in [found(n)] if k and name(k) == n}))',
    names,
  );
}

/** The names that the runtime reports for these names in code. */
function namesOf(names: readonly string[]): Readonly<Record<string, string>> {
  return python('print(json.dumps({n: name(found(n)) for n in given}))', names);
}

/** All exceptions of these modules that have names without an underscore. */
const FROM_MODULES: Mros = python(
  `kinds = [k for m in given for n, k in vars(importlib.import_module(m)).items() if is_exception(k) and n[0] != "_"]
print(json.dumps({name(k): mro(k) for k in kinds if k.__module__ != "builtins"}))`,
  [
    'json',
    'socket',
    'urllib.error',
    'http.client',
    'asyncio',
    'subprocess',
    'concurrent.futures',
    'ssl',
    'sqlite3',
    'zipfile',
    'smtplib',
    'shutil',
    'zlib',
    'queue',
    'csv',
    'pickle',
  ],
);

const PYTHON_TAIL = ['Exception', 'BaseException', 'object'];

describe('mroOf', () => {
  it("knows Python's built-in exceptions", () => {
    const names = Object.keys(FROM_PYTHON);
    expect(names).toContain('UnicodeDecodeError');
    const known = Object.fromEntries(names.map((name) => [name, mroOf(name, [], 'python')]));
    expect(known).toEqual(FROM_PYTHON);
  });

  it("knows the exceptions of Python's standard modules", () => {
    const known = Object.fromEntries(
      Object.keys(FROM_MODULES).map((name) => [name, mroOf(name, [], 'python')]),
    );
    expect(Object.keys(FROM_MODULES)).toContain('http.client.RemoteDisconnected');
    expect(known).toEqual(FROM_MODULES);
  });

  it('agrees with the interpreter on every class that it lists', () => {
    const names = Object.keys(PYTHON_ERRORS);
    const real = mrosOf(names);
    expect(real['smtplib.SMTPDataError']).toContain('OSError');
    const known = Object.fromEntries(Object.keys(real).map((name) => [name, mroOf(name, [], 'python')]));
    expect(known).toEqual(real);
  });

  it('knows the names that code uses for a class', () => {
    const names = [...Object.keys(PYTHON_ALIASES), 'json.JSONDecodeError', 'asyncio.IncompleteReadError'];
    const known = Object.fromEntries(names.map((name) => [name, standardError(name, 'python')?.name]));
    expect(known).toEqual(namesOf(names));
    expect(standardError('JSONDecodeError', 'python')?.name).toBe('json.decoder.JSONDecodeError');
    expect(standardError('Error', 'python')).toBeUndefined();
    expect(standardError('app.ValueError', 'python')).toBeUndefined();
    expect(standardError('toString', 'node')).toBeUndefined();
  });

  it("agrees with Node's runtime", () => {
    const thrown = [
      new Error('e'),
      new TypeError('e'),
      new RangeError('e'),
      new AggregateError([]),
      new DOMException('e', 'AbortError'),
      new DOMException('e', 'TimeoutError'),
      new DOMException('e', 'DataCloneError'),
      new EvalError('e'),
      new ReferenceError('e'),
      new SyntaxError('e'),
      new URIError('e'),
      new AssertionError({ message: 'e' }),
    ];
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      const one: unknown = Reflect.get(globalThis, name);
      if (typeof one !== 'function' || !(one.prototype instanceof Error)) continue;
      expect(standardError(name, 'node'), name).toBeDefined();
    }
    for (const one of thrown) {
      const { type, mro } = errorObjectFrom(one);
      expect(mroOf(type, [], 'node'), type).toEqual(mro);
    }
    // TypeScript knows WebAssembly only with the types of a browser.
    const webAssembly: unknown = Reflect.get(globalThis, 'WebAssembly');
    for (const name of ['CompileError', 'LinkError', 'RuntimeError']) {
      const { type, mro } = errorObjectFrom(Reflect.construct(Reflect.get(Object(webAssembly), name), ['e']));
      expect(mroOf(type, [], 'node'), name).toEqual(mro);
    }
  });

  it('derives unknown errors from Exception', () => {
    expect(mroOf('pkg.Own', [], 'python')).toEqual(['pkg.Own', ...PYTHON_TAIL]);
    expect(mroOf('Own', [], 'node')).toEqual(['Own', 'Error', 'Exception']);
    expect(mroOf('json.decoder.JSONDecodeError', [], 'image')).toEqual([
      'json.decoder.JSONDecodeError',
      'ValueError',
      ...PYTHON_TAIL,
    ]);
    expect(mroOf('Exception', [], 'url')).toEqual(PYTHON_TAIL);
    expect(mroOf('BaseException', [], 'python')).toEqual(['BaseException', 'object']);
    expect(mroOf('SystemExit', [], 'python')).toEqual(['SystemExit', 'BaseException', 'object']);
    expect(mroOf('asyncio.CancelledError', [], 'python')).toEqual([
      'asyncio.CancelledError',
      'BaseException',
      'object',
    ]);
    expect(mroOf('SystemExit', [], 'node')).toEqual(['SystemExit', 'Error', 'Exception']);
  });

  it('uses the given ancestors', () => {
    expect(mroOf('KeyError', ['Mine', 'Exception'], 'python')).toEqual(['KeyError', 'Mine', ...PYTHON_TAIL]);
    expect(mroOf('KeyError', ['Mine'], 'node')).toEqual(['KeyError', 'Mine', 'Error', 'Exception']);
  });
});
