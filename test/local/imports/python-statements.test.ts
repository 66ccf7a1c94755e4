import { expect, test } from 'vitest';
import { pythonStatements } from '../../../lib/local/imports/python-statements.ts';

/** `level module: names` of each import. */
function importsIn(source: string): readonly string[] {
  return pythonStatements(source).imports.map(({ level, module, names }) =>
    `${'.'.repeat(level)}${module}${names.length === 0 ? '' : `: ${names.join(' ')}`}`.trim(),
  );
}

test.each([
  ['import a', ['a']],
  ['import a.b.c as d, e\nimport f;import g', ['a.b.c', 'e', 'f', 'g']],
  ['from a import b', ['a: b']],
  ['from a.b import c as d, e', ['a.b: c e']],
  ['from a import *', ['a']],
  ['from . import a', ['.: a']],
  ['from .. import a', ['..: a']],
  ['from...a.b import c', ['...a.b: c']],
  ['from .a import(b)', ['.a: b']],
  ['from a import (\n  b,  # the first\n  c as d,\n)\nimport e', ['e', 'a: b c']],
  ['from a \\\n  import b, \\\n  c', ['a: b c']],
  ['import a\r\nfrom b import c\r\n', ['a', 'b: c']],
  ['def f():\n    import a\n\n    if True: from b import c', ['a', 'b: c']],
  ['try: import a\nexcept ImportError: import b', ['a', 'b']],
  ['import importlib\nimportlib.import_module("a.b")', ['importlib', 'a.b']],
  ["import_module('.b', package=__package__)", ['.b']],
  ['__import__("a")', ['a']],
  ['importlib.import_module(name)', []],
  ['import größe', ['größe']],
])('finds the imports in %j', (source, expected) => {
  expect(importsIn(source)).toEqual(expected);
});

test.each([
  '# import a',
  '"""\nimport a\n"""',
  "x = '''\nfrom a import b\n'''",
  'x = "\\"\\nimport a"',
  'important = 1\nfrom_here = 2',
  'raise E() from error',
  'yield from a',
  'x = "#"  # "\nimported = 1',
])('finds none in %j', (source) => {
  expect(pythonStatements(source)).toEqual({ imports: [], isComplete: true });
});

test('continues after a line with an open quote, and reports a text that does not end', () => {
  expect(importsIn('x = "oops\nimport a')).toEqual(['a']);
  expect(pythonStatements('import a\nx = """\nimport b')).toMatchObject({
    imports: [{ module: 'a' }],
    isComplete: false,
  });
});
