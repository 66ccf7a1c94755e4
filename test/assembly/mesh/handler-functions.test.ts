import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMesh } from '../../../lib/assembly/mesh/read-mesh.ts';
import { actorText } from '../../config/manifest/a-mesh.ts';
import { PYTHON } from '../../sidecar/sidecar-process.ts';
import { aFolder } from '../../support/a-folder.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** The handlers of one folder, each with its problem. Undefined: it is accepted. */
type Problems = Readonly<Record<string, string | undefined>>;

function problemsIn(folder: string, handlers: readonly string[]): Problems {
  const reading = readMesh(folder);
  const mistakes = 'mistakes' in reading ? reading.mistakes : [];
  const problemOf = (at: number) =>
    mistakes.find(({ place }) => place.startsWith(`a${at}.yaml:6:3 spec.handler`))?.problem;
  return Object.fromEntries(handlers.map((handler, at) => [handler, problemOf(at)]));
}

function aMesh(files: Readonly<Record<string, string>>, handlers: readonly string[]): string {
  const documents = handlers.map((handler, at) => [
    `a${at}.yaml`,
    actorText(`a${at}`, `handler: ${JSON.stringify(handler)}`),
  ]);
  return aFolder({ ...files, ...Object.fromEntries(documents) });
}

/** The handlers that the real runtime can load. */
function loadedByNode(folder: string, handlers: readonly string[]): readonly string[] {
  const script = `import { loadHandler } from ${JSON.stringify(join(ROOT, 'runtimes/node/handler/load-handler.ts'))};
const loaded = [];
for (const name of ${JSON.stringify(handlers)}) await loadHandler(name).then(() => loaded.push(name), () => {});
console.log(JSON.stringify(loaded));`;
  const options = { cwd: folder, encoding: 'utf8' as const, stdio: 'pipe' as const };
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], options));
}

function loadedByPython(folder: string, handlers: readonly string[]): readonly string[] {
  const script = `import sys, json
sys.path.insert(0, ${JSON.stringify(join(ROOT, 'runtimes/python/asya'))})
import _runtime
loaded = []
for name in json.loads(sys.argv[1]):
    try:
        _runtime.load_handler(name)
        loaded.append(name)
    except _runtime.StartupError:
        pass
print("\\n" + json.dumps(loaded))`;
  const options = { cwd: folder, encoding: 'utf8' } as const;
  const output = execFileSync(PYTHON, ['-B', '-c', script, JSON.stringify(handlers)], options);
  return JSON.parse(output.trim().split('\n').at(-1) ?? '');
}

/** Handlers that exist, one per way to define them. Each must load, so that the table cannot lie. */
const NODE_FILES = {
  'direct.ts': `export function declared(payload: number): number { return payload; }
export async function* streamed() {}
export const arrow = (payload: { readonly a: string }) => payload;
const local = () => 1;
export { local as renamed, local as 'with text' };
export const { picked, other: taken = () => 2, ...rest } = { picked: () => 1 } as never as Record<string, () => number>;
export const wrapped = [local][0];
export let later: () => void;
later = () => {};
export default function standard() {}
export interface Shape { readonly a: number }
export enum Colour { red }
`,
  'plain.ts': `export function declared(payload: number): number { return payload; }
const hidden = () => 1;
export const count = 3;
export const text = \`\${count}\`;
export const list = [hidden];
export class Greeter {
  field = () => 1;
  greet(payload: string) { return payload; }
  static fixed() { return 1; }
  static ready = () => 1;
  #secret() { return 1; }
  get lazy() { return () => 1; }
}
export class Loud extends Greeter { shout() { return 1; } }
export default { inside: () => 1, nested: { deep() { return 1; } }, number: 1 };
`,
  'again.ts': `export * from './plain.ts';
export { declared as twice } from './plain.ts';
import { Loud, count } from './plain.ts';
export { Loud as Renamed, count as amount };
`,
  'anywhere.ts': "export * from 'node:path';\n",
  'mixed.ts': `import base from 'node:events';
export class Own extends base { greet() { return 1; } }
export class Changed { greet() { return 1; } }
Object.assign(Changed.prototype, { added: () => 1 });
const names = ['computed'] as const;
export class Computed { [names[0]]() { return 1; } }
export const spread = { ...{ inside: () => 1 } };
`,
  'common.cjs': `exports.named = () => 1;
module.exports.other = function () {};
const hidden = () => 1;
exports.number = 3;
`,
  'whole.cjs': `class Greeter { greet() { return 1; } }
function one() {}
module.exports = { one, Greeter, two: () => 2 };
`,
  'dynamic.cjs': "for (const name of ['a', 'b']) exports[name] = () => name;\n",
  'base.ts': 'export const tools = {}; export class Base {}\n',
  'adds.ts': `import { Base, tools } from './base.ts';
Object.assign(tools, { added: () => 1 });
Object.assign(Base.prototype, { added: () => 1 });
`,
  'extended.ts': "import './adds.ts';\nexport { Base, tools } from './base.ts';\n",
  'filled.ts': `import { tools } from './base.ts';
Object.assign(tools, { filled: () => 1 });
export { tools };
`,
  'nested.cjs': 'exports.own = {};\nexports.own.added = () => 1;\n',
  'within.cjs': 'module.exports = { own: {} };\nmodule.exports.own.added = () => 1;\n',
  'side.cjs': 'function main() {}\nmodule.exports = main;\nmain.added = () => 1;\n',
  'this.cjs': 'this.named = () => 1;\n',
  'chained.cjs': 'module.exports = exports = function main() {};\nexports.side = () => 1;\n',
  'esbuilt.cjs': `Object.defineProperty(exports, 'late', { enumerable: true, get: () => () => 1 });
`,
};

const NODE_THERE = [
  'direct.ts.later',
  'plain.ts.declared',
  'plain.ts.Greeter.greet',
  'plain.ts.Greeter.fixed',
  'plain.ts.Greeter.ready',
  'plain.ts.Greeter.lazy',
  'plain.ts.Loud.shout',
  'plain.ts.Loud.greet',
  'plain.ts.inside',
  'plain.ts.nested.deep',
  'plain.ts.default.inside',
  './again.ts.declared',
  'again.ts.twice',
  'again.ts.Renamed.shout',
  'again.ts.Greeter.greet',
  'anywhere.ts.join',
  'mixed.ts.Own.greet',
  'mixed.ts.Own.emit',
  'mixed.ts.Changed.added',
  'mixed.ts.Computed.computed',
  'mixed.ts.spread.inside',
  'common.cjs.named',
  'this.cjs.named',
  'extended.ts.tools.added',
  'extended.ts.Base.added',
  'filled.ts.tools.filled',
  'nested.cjs.own.added',
  'within.cjs.own.added',
  'side.cjs.added',
  'common.cjs.other',
  'whole.cjs.one',
  'whole.cjs.two',
  'whole.cjs.Greeter.greet',
  'dynamic.cjs.a',
  'chained.cjs.default',
  'chained.cjs.side',
  'esbuilt.cjs.late',
];

const NODE_MISSING: Problems = {
  'plain.ts.declred':
    'but "plain.ts" has no function "declred"; did you mean "declared"? It has declared, Greeter.greet, Greeter.lazy, Greeter.fixed, Greeter.ready, Loud.greet, Loud.lazy, Loud.fixed, Loud.ready, Loud...',
  'plain.ts.hidden': 'but "plain.ts" does not export "hidden"; it is a function, but not an export',
  'plain.ts.Greeter':
    'but "Greeter" in "plain.ts" is a class; add the name of one of its methods: greet, lazy, fixed, ready',
  'plain.ts.Greeter.gret':
    'but "Greeter" has no function "gret"; did you mean "greet"? It has greet, lazy, fixed, ready',
  'plain.ts.Greeter.field':
    'but "Greeter" has no function "field"; did you mean "fixed"? It has greet, lazy, fixed, ready',
  'plain.ts.count': 'but "count" in "plain.ts" is a number; expected a function',
  'plain.ts.text': 'but "text" in "plain.ts" is a string; expected a function',
  'plain.ts.list': 'but "list" in "plain.ts" is an array; expected a function',
  'plain.ts.nested': 'but "nested" in "plain.ts" is an object; expected a function; it has deep',
  'direct.ts.standard':
    'but "direct.ts" exports "standard" only as its default export; use "direct.ts.default"',
  'again.ts.amount': 'but "amount" in "again.ts" is a number; expected a function',
  'common.cjs.hidden': 'but "common.cjs" does not export "hidden"; it is a function, but not an export',
  'common.cjs.number': 'but "number" in "common.cjs" is a number; expected a function',
  'whole.cjs.three': 'but "whole.cjs" has no function "three"; it has one, Greeter.greet, two',
};

describe('the function of a Node handler', () => {
  it('is accepted if it exists, or may exist', () => {
    const all = [...NODE_THERE, 'direct.ts.declared', 'direct.ts.picked', 'direct.ts.wrapped'];
    const folder = aMesh(NODE_FILES, all);
    expect(problemsIn(folder, all)).toEqual(Object.fromEntries(all.map((name) => [name, undefined])));
    // Node cannot strip the types of an enum, which direct.ts has; a bundle can contain it.
    const loadable = NODE_THERE.filter((name) => !name.startsWith('direct.ts'));
    expect(loadedByNode(folder, loadable)).toEqual(loadable);
  });

  it('is reported if it is certainly missing, as the runtime does', () => {
    const names = Object.keys(NODE_MISSING);
    const folder = aMesh(NODE_FILES, names);
    const expected = Object.entries(NODE_MISSING).map(([name, problem]) => [
      name,
      `is "${name}", ${problem}`,
    ]);
    expect(problemsIn(folder, names)).toEqual(Object.fromEntries(expected));
    expect(loadedByNode(folder, names)).toEqual([]);
  });

  it('is not searched in a file that is not valid; its first mistake is reported with its line', () => {
    const folder = aMesh(
      {
        'bad.ts': 'export const a = (b: string) => b;\nexport const = 3;\n',
        'bad.js': 'export const a = {;\n',
      },
      ['bad.ts.a', 'bad.js.a'],
    );
    expect(problemsIn(folder, ['bad.ts.a', 'bad.js.a'])).toEqual({
      'bad.ts.a': 'is "bad.ts.a", but bad.ts:2:14 is not valid: Expected identifier but found "="',
      'bad.js.a': 'is "bad.js.a", but bad.js:1:19 is not valid: Expected identifier but found ";"',
    });
  });

  it('is a warning, or ignored, where the mesh may start without it', () => {
    const folder = aMesh({ 'a.ts': 'export const a = 3;\n' }, ['a.ts.b']);
    expect(readMesh(folder, 'warnings')).toMatchObject({
      manifest: { actors: [{ name: 'a0' }] },
      warnings: [{ place: 'a0.yaml:6:3 spec.handler', problem: expect.stringContaining('"b"') }],
    });
    expect(readMesh(folder, 'ignored')).toMatchObject({ manifest: { actors: [{}] }, warnings: [] });
  });
});

const PYTHON_FILES = {
  'plain.py': `"""Docs with def hidden(): inside."""
import json as encoder
from os.path import (join,
    split as cut)
from functools import partial, lru_cache
LIMIT = 3
TEXT: str = "def no(): pass"
BRACKETS = [
    "def also_no():",
]
async def greet(payload): return payload
@lru_cache(
    maxsize=None)
def cached(payload): return payload
short = lambda payload: payload
made = partial(greet)
first, (second, *third) = greet, (greet, greet)
if LIMIT > 2:
    def conditional(payload): return payload
else:
    conditional = None
try: from nowhere import fast
except ImportError: fast = greet
for looped in [greet]: pass
with open(__file__) as opened: pass
print((walrus := greet))
class Greeter:
    """A class."""
    def greet(self, payload): return payload
    @staticmethod
    def fixed(payload): return payload
    alias = greet
    class Inner:
        def deep(self, payload): return payload
    if LIMIT:
        def chosen(self, payload): return payload
class Loud(Greeter):
    def shout(self, payload): return payload
def factory():
    def nested(payload): return payload
    global promised
    promised = nested
factory()
`,
  'open.py': 'from plain import *\n',
  'late.py': 'def __getattr__(name):\n    return lambda payload: payload\n',
  'bases.py': 'import plain\nclass Own(plain.Greeter):\n    pass\n',
  'dynamic.py': 'globals()["made"] = lambda payload: payload\n',
  'changed.py': 'class A: pass\nA.added = lambda self, payload: payload\n',
  'quotes.py': "x = {'a': 1}\ny = f\"{x['a']} {{ {'(' }\"\ndef after(payload): return payload\n",
  'tabs.py':
    'class A:\r\n\tdef greet(self, payload):\r\n\t\treturn (1,\r\n2)\r\n\tdef other(self, p): return p\r\n',
  'soft.py':
    'from typing import Any\nmatch: Any = lambda payload: {"a": payload}\ncase: Any = match\nspan = 1.5.hex\n',
  'listed.py':
    'class A: pass\nclass B: pass\nfor one in {"a": A}.values(): one.added = lambda self, p: p\n(lambda: B)().added = lambda self, p: p\n',
  'both.py': 'def hidden(payload): return payload\n',
  'both/__init__.py': 'def greet(payload): return payload\n',
  'accents.py': 'def größe(payload): return payload\nclass Öl:\n    def maß(self, payload): return payload\n',
  'parents.py':
    'class A:\n    def __init_subclass__(cls):\n        cls.added = lambda self, payload: payload\nclass B(A): pass\n',
  'whole/__init__.py': 'class Inside:\n    def greet(self, payload): return payload\n',
};

const PYTHON_THERE = [
  'plain.greet',
  'plain.cached',
  'plain.short',
  'plain.made',
  'plain.first',
  'plain.second',
  'plain.conditional',
  'plain.fast',
  'plain.looped',
  'plain.walrus',
  'plain.promised',
  'plain.join',
  'plain.cut',
  'plain.Greeter.greet',
  'plain.Greeter.fixed',
  'plain.Greeter.alias',
  'plain.Greeter.chosen',
  'plain.Greeter.Inner.deep',
  'plain.Loud.greet',
  'plain.Loud.shout',
  'open.greet',
  'late.anything',
  'bases.Own.greet',
  'dynamic.made',
  'changed.A.added',
  'quotes.after',
  'tabs.A.other',
  'soft.match',
  'soft.case',
  'soft.span',
  'listed.A.added',
  'listed.B.added',
  'both.greet',
  'accents.größe',
  'accents.Öl.maß',
  'parents.B.added',
  'whole.Inside.greet',
];

const PYTHON_LIST =
  'It has greet, cached, short, made, first, second, third, conditional, fast, Greeter.greet, Greeter.fixed, Greeter.alias, Greete...';

const PYTHON_MISSING: Problems = {
  'plain.gret': `but "plain.py" has no function "gret"; did you mean "greet"? ${PYTHON_LIST}`,
  'plain.hidden': `but "plain.py" has no function "hidden"; ${PYTHON_LIST.replace('It', 'it')}`,
  'plain.LIMIT': 'but "LIMIT" in "plain.py" is a number; expected a function',
  'plain.TEXT': 'but "TEXT" in "plain.py" is a string; expected a function',
  'plain.Loud':
    'but "Loud" in "plain.py" is a class; add the name of one of its methods: shout, greet, fixed, alias, Inner.deep, chosen',
  'plain.Loud.shot':
    'but "Loud" has no function "shot"; did you mean "shout"? It has shout, greet, fixed, alias, Inner.deep, chosen',
  'tabs.A.gret': 'but "A" has no function "gret"; did you mean "greet"? It has greet, other',
  'whole.Inside.gret': 'but "Inside" has no function "gret"; did you mean "greet"? It has greet',
  'whole.greet': 'but "whole/__init__.py" has no function "greet"; it has Inside.greet',
};

describe('the function of a Python handler', () => {
  it('is accepted if it exists, or may exist', () => {
    const folder = aMesh(PYTHON_FILES, PYTHON_THERE);
    expect(problemsIn(folder, PYTHON_THERE)).toEqual(
      Object.fromEntries(PYTHON_THERE.map((name) => [name, undefined])),
    );
    expect(loadedByPython(folder, PYTHON_THERE)).toEqual(PYTHON_THERE);
  });

  it('is reported if it is certainly missing, as the runtime does', () => {
    const names = Object.keys(PYTHON_MISSING);
    const folder = aMesh(PYTHON_FILES, names);
    const expected = Object.entries(PYTHON_MISSING).map(([name, problem]) => [
      name,
      `is "${name}", ${problem}`,
    ]);
    expect(problemsIn(folder, names)).toEqual(Object.fromEntries(expected));
    expect(loadedByPython(folder, names)).toEqual([]);
  });
});
