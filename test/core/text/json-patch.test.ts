import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyPatch, readPatch } from '../../../lib/core/text/json-patch.ts';
import type { JsonText } from '../../../lib/core/text/json-text.ts';
import { law } from '../law.ts';

/** The patched document as text, or the problem. */
function patched(text: string, patch: string): { text: string } | { problem: string } {
  const reading = readPatch(patch);
  return 'problem' in reading ? reading : applyPatch(text as JsonText, reading.patch);
}

function textAfter(text: string, patch: unknown): string {
  const result = patched(text, JSON.stringify(patch));
  if ('problem' in result) throw new Error(result.problem);
  return result.text;
}

function problemOf(text: string, patch: string): string {
  const result = patched(text, patch);
  if ('text' in result) throw new Error(`patched: ${result.text}`);
  return result.problem;
}

type Operations = readonly Readonly<Record<string, unknown>>[];

describe('JSON Patch follows RFC 6902', () => {
  it.each<[string, unknown, Operations, unknown]>([
    ['adds a member', { tea: 1 }, [{ op: 'add', path: '/milk', value: 2 }], { tea: 1, milk: 2 }],
    ['overwrites a member with add', { tea: 1 }, [{ op: 'add', path: '/tea', value: 2 }], { tea: 2 }],
    [
      'inserts into an array',
      { l: ['a', 'c'] },
      [{ op: 'add', path: '/l/1', value: 'b' }],
      { l: ['a', 'b', 'c'] },
    ],
    ['appends by index', ['a'], [{ op: 'add', path: '/1', value: 'b' }], ['a', 'b']],
    ['appends with -', { l: ['a'] }, [{ op: 'add', path: '/l/-', value: ['b'] }], { l: ['a', ['b']] }],
    ['adds to an empty array', [], [{ op: 'add', path: '/-', value: null }], [null]],
    ['adds a nested value', {}, [{ op: 'add', path: '/a', value: { b: {} } }], { a: { b: {} } }],
    ['replaces the document with add', { a: 1 }, [{ op: 'add', path: '', value: [1] }], [1]],
    ['removes a member', { a: 1, b: 2 }, [{ op: 'remove', path: '/b' }], { a: 1 }],
    ['removes an item of an array', ['a', 'b', 'c'], [{ op: 'remove', path: '/1' }], ['a', 'c']],
    ['replaces a member', { a: 1 }, [{ op: 'replace', path: '/a', value: [] }], { a: [] }],
    ['replaces an item of an array', [1, 2], [{ op: 'replace', path: '/0', value: 9 }], [9, 2]],
    ['replaces the document', { a: 1 }, [{ op: 'replace', path: '', value: null }], null],
    ['replaces null', { a: null }, [{ op: 'replace', path: '/a', value: 1 }], { a: 1 }],
    [
      'moves a member',
      { from: { x: 1, y: 2 }, to: { z: 3 } },
      [{ op: 'move', from: '/from/x', path: '/to/w' }],
      { from: { y: 2 }, to: { z: 3, w: 1 } },
    ],
    [
      'moves within an array; the target index does not count the moved item',
      ['all', 'grass', 'cows', 'eat'],
      [{ op: 'move', from: '/1', path: '/3' }],
      ['all', 'cows', 'eat', 'grass'],
    ],
    ['moves a value to its own path', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
    [
      'moves a child to the path of its parent',
      { a: { b: 1 } },
      [{ op: 'move', from: '/a/b', path: '/a' }],
      { a: 1 },
    ],
    ['moves a value to the root', { a: { b: 1 } }, [{ op: 'move', from: '/a', path: '' }], { b: 1 }],
    ['copies a value', { a: [1] }, [{ op: 'copy', from: '/a', path: '/b' }], { a: [1], b: [1] }],
    ['copies a value into itself', { a: {} }, [{ op: 'copy', from: '/a', path: '/a/b' }], { a: { b: {} } }],
    ['copies the document', { a: 1 }, [{ op: 'copy', from: '', path: '/b' }], { a: 1, b: { a: 1 } }],
    [
      'tests values and ignores the order of members',
      { a: { x: 1, y: [true, 'z'] }, n: 1 },
      [
        { op: 'test', path: '/a', value: { y: [true, 'z'], x: 1 } },
        { op: 'test', path: '/n', value: 1 },
        { op: 'test', path: '/a/y/1', value: 'z' },
      ],
      { a: { x: 1, y: [true, 'z'] }, n: 1 },
    ],
    [
      'unescapes ~1 before ~0',
      { '/': 9, '~1': 10, 'a/b': 1, 'm~n': 2 },
      [
        { op: 'test', path: '/~01', value: 10 },
        { op: 'test', path: '/~1', value: 9 },
        { op: 'replace', path: '/a~1b', value: 3 },
        { op: 'remove', path: '/m~0n' },
      ],
      { '/': 9, '~1': 10, 'a/b': 3 },
    ],
    ['accepts an empty key', { '': { '': 1 } }, [{ op: 'replace', path: '//', value: 2 }], { '': { '': 2 } }],
    [
      'accepts numbers as keys of an object',
      { '0': 'a' },
      [{ op: 'replace', path: '/0', value: 'b' }],
      { '0': 'b' },
    ],
    [
      'ignores unknown fields of an operation',
      { a: 1 },
      [{ op: 'remove', path: '/a', more: 1, value: 2 }],
      {},
    ],
    [
      'accepts keys that exist on the prototype',
      {},
      [{ op: 'add', path: '/constructor', value: 1 }],
      { constructor: 1 },
    ],
    ['does nothing without operations', { a: 1 }, [], { a: 1 }],
    [
      'applies operations in order',
      { a: 1 },
      [
        { op: 'add', path: '/b', value: {} },
        { op: 'move', from: '/a', path: '/b/c' },
        { op: 'copy', from: '/b/c', path: '/d' },
      ],
      { b: { c: 1 }, d: 1 },
    ],
  ])('%s', (_what, document, patch, after) => {
    expect(JSON.parse(textAfter(JSON.stringify(document), patch))).toEqual(after);
  });

  it('adds `__proto__` as a key like any other', () => {
    expect(textAfter('{}', [{ op: 'add', path: '/__proto__', value: 1 }])).toBe('{"__proto__":1}');
  });

  it.each<[string, unknown, string, string]>([
    ['remove of a missing member', { a: 1 }, '[{"op":"remove","path":"/b"}]', 'nothing at "/b"'],
    ['replace of a missing member', { a: 1 }, '[{"op":"replace","path":"/b","value":1}]', 'nothing at "/b"'],
    ['add to a missing parent', { a: 1 }, '[{"op":"add","path":"/b/c","value":1}]', 'nothing at "/b"'],
    [
      'add inside a scalar',
      { a: 1 },
      '[{"op":"add","path":"/a/b","value":1}]',
      '"/a/b" cannot be added: its parent is neither an object nor an array',
    ],
    [
      'an index beyond the end of an array',
      [1],
      '[{"op":"add","path":"/2","value":1}]',
      '"/2" is not an index of an array of length 1',
    ],
    ['a key instead of an index', [1], '[{"op":"add","path":"/x","value":1}]', '"/x" is not an index'],
    [
      'an index with a leading zero',
      [1, 2],
      '[{"op":"add","path":"/01","value":1}]',
      '"/01" is not an index',
    ],
    ['an index with a sign', [1, 2], '[{"op":"remove","path":"/-1"}]', 'nothing at "/-1"'],
    ['an index with an exponent', [1, 2], '[{"op":"remove","path":"/1e0"}]', 'nothing at "/1e0"'],
    ['remove at -', [1], '[{"op":"remove","path":"/-"}]', 'nothing at "/-"'],
    ['replace at -', [1], '[{"op":"replace","path":"/-","value":1}]', 'nothing at "/-"'],
    ['copy from -', [1], '[{"op":"copy","from":"/-","path":"/0"}]', 'nothing at "/-"'],
    [
      'move of a parent into its child',
      { a: { b: 1 } },
      '[{"op":"move","from":"/a","path":"/a/b"}]',
      'into itself',
    ],
    ['remove of the document', 1, '[{"op":"remove","path":""}]', 'cannot be removed'],
    [
      'test of a different value',
      { a: 'x' },
      '[{"op":"test","path":"/a","value":"y"}]',
      '"/a" has a different value',
    ],
    [
      'test of text against a number',
      { a: '10' },
      '[{"op":"test","path":"/a","value":10}]',
      '"/a" has a different value',
    ],
    [
      'test of a missing member against null',
      {},
      '[{"op":"test","path":"/a","value":null}]',
      'nothing at "/a"',
    ],
    ['test of a longer array', [1, 2], '[{"op":"test","path":"","value":[1]}]', 'has a different value'],
    [
      'test with fewer members',
      { a: 1, b: 2 },
      '[{"op":"test","path":"","value":{"a":1}}]',
      'has a different value',
    ],
    [
      'test of an array against an object',
      [],
      '[{"op":"test","path":"","value":{}}]',
      'has a different value',
    ],
  ])('rejects: %s', (_what, document, patch, message) => {
    expect(problemOf(JSON.stringify(document), patch)).toMatch(/^operation 1 of the patch \(\w+\): /);
    expect(problemOf(JSON.stringify(document), patch)).toContain(message);
  });

  it.each([
    ['{}', 'expected a JSON array'],
    ['nonsense', 'expected a JSON array'],
    ['[1]', 'operation 1 of the patch: expected an object, received 1'],
    [
      '[{"op":"test","path":"","value":1},{"op":"spam","path":"/a"}]',
      'operation 2 of the patch: op is "spam"',
    ],
    ['[{"path":"/a"}]', 'op is missing'],
    ['[{"op":"remove"}]', 'path is missing'],
    ['[{"op":"remove","path":"a"}]', 'path is "a"'],
    ['[{"op":"remove","path":"/~2"}]', 'path is "/~2"'],
    ['[{"op":"remove","path":"/a~"}]', 'path is "/a~"'],
    ['[{"op":"remove","path":["a"]}]', 'expected a JSON Pointer such as "/a/0/b"'],
    ['[{"op":"move","path":"/a"}]', 'from is missing'],
    ['[{"op":"copy","path":"/a","from":7}]', 'from is 7'],
    ['[{"op":"add","path":"/a"}]', 'value is missing'],
    ['[{"op":"test","path":"/a"}]', 'value is missing'],
  ])('rejects the patch %s', (patch, message) => {
    expect(problemOf('{"a":1}', patch)).toContain(message);
  });

  it('accepts null as a value', () => {
    expect(textAfter('{"a":1}', [{ op: 'add', path: '/a', value: null }])).toBe('{"a":null}');
  });

  it('applies all operations or none', () => {
    const patch = '[{"op":"add","path":"/b","value":1},{"op":"remove","path":"/c"}]';
    expect(problemOf('{"a":1}', patch)).toMatch(/^operation 2 of the patch \(remove\)/);
  });
});

describe('values that a patch does not touch keep their bytes', () => {
  const ODD = '{"n":9007199254740993,"f":1.10,"e":1E+2,"a":1,"a":2,"u":"\\u0041" }';

  it('next to a changed value', () => {
    const text = `{"keep":${ODD},"l":[${ODD},1],"x":1}`;
    expect(textAfter(text, [{ op: 'replace', path: '/x', value: 2 }])).toBe(
      `{"keep":${ODD},"l":[${ODD},1],"x":2}`,
    );
    expect(textAfter(text, [{ op: 'remove', path: '/l/1' }])).toBe(`{"keep":${ODD},"l":[${ODD}],"x":1}`);
  });

  it('when moved or copied', () => {
    const text = `{"a":${ODD}}`;
    expect(textAfter(text, [{ op: 'copy', from: '/a', path: '/b' }])).toBe(`{"a":${ODD},"b":${ODD}}`);
    expect(textAfter(text, [{ op: 'move', from: '/a', path: '/b' }])).toBe(`{"b":${ODD}}`);
  });

  it('when taken from the patch', () => {
    const result = patched('{}', `[{"op":"add","path":"/a","value":${ODD}}]`);
    expect(result).toEqual({ text: `{"a":${ODD}}` });
  });

  it('with a patch that only tests', () => {
    expect(patched(` ${ODD}`, '[{"op":"test","path":"/f","value":1.1}]')).toEqual({ text: ` ${ODD}` });
  });
});

describe('test compares numbers by value', () => {
  it.each([
    ['1', '1.0'],
    ['100', '1e2'],
    ['100', '1E+2'],
    ['0.01', '1e-2'],
    ['0', '-0.0'],
    ['0', '0e999999'],
    ['-1.50', '-15e-1'],
    ['9007199254740993', '9007199254740993.0'],
    ['1e400', '10e399'],
  ])('%s equals %s', (one, other) => {
    expect(patched(one, `[{"op":"test","path":"","value":${other}}]`)).toEqual({ text: one });
  });

  it.each([
    ['9007199254740993', '9007199254740992'],
    ['18446744073709551615', '18446744073709551616'],
    ['1', '-1'],
    ['1e400', '1e401'],
    ['0.1', '0.10000000000000001'],
    ['1', 'true'],
    ['0', 'null'],
    ['1', '"1"'],
  ])('%s does not equal %s', (one, other) => {
    expect(patched(one, `[{"op":"test","path":"","value":${other}}]`)).toHaveProperty('problem');
  });

  it('compares texts by value, with or without escapes', () => {
    expect(patched('"\\u0041/"', '[{"op":"test","path":"","value":"A\\/"}]')).toHaveProperty('text');
  });
});

/** A simple implementation of JSON Patch on plain values. */
type Model = null | boolean | number | string | Model[] | { [key: string]: Model };

interface ModelOperation {
  readonly op: string;
  readonly path: readonly string[];
  readonly from: readonly string[];
  readonly value: Model;
}

function modelApply(document: Model, { op, path, from, value }: ModelOperation): Model {
  switch (op) {
    case 'add':
      return modelPut(document, path, value, false);
    case 'replace':
      modelGet(document, path);
      return modelPut(document, path, value, true);
    case 'remove':
      return modelRemove(document, path);
    case 'copy':
      return modelPut(document, path, structuredClone(modelGet(document, from)), false);
    case 'move': {
      const moved = structuredClone(modelGet(document, from));
      if (path.length > from.length && from.every((step, at) => step === path[at]))
        throw new Error('the target is inside the source');
      return modelPut(modelRemove(document, from), path, moved, false);
    }
    default:
      expect(modelGet(document, path)).toEqual(value);
      return document;
  }
}

function modelGet(document: Model, path: readonly string[]): Model {
  return path.reduce((at: Model, step) => {
    if (Array.isArray(at) && /^(0|[1-9]\d*)$/.test(step) && Number(step) < at.length)
      return at[Number(step)] as Model;
    if (at !== null && typeof at === 'object' && !Array.isArray(at) && Object.hasOwn(at, step))
      return at[step] as Model;
    throw new Error('no value at this path');
  }, document);
}

function modelPut(document: Model, path: readonly string[], value: Model, isReplaced: boolean): Model {
  const step = path.at(-1);
  if (step === undefined) return value;
  const copy = structuredClone(document);
  const holder = modelGet(copy, path.slice(0, -1));
  if (Array.isArray(holder)) {
    const at = step === '-' ? holder.length : /^(0|[1-9]\d*)$/.test(step) ? Number(step) : Number.NaN;
    if (!(at <= holder.length)) throw new Error('not an index');
    holder.splice(at, isReplaced ? 1 : 0, value);
  } else if (holder !== null && typeof holder === 'object') holder[step] = value;
  else throw new Error('not a container');
  return copy;
}

function modelRemove(document: Model, path: readonly string[]): Model {
  const step = path.at(-1);
  if (step === undefined) throw new Error('the document cannot be removed');
  modelGet(document, path);
  const copy = structuredClone(document);
  const holder = modelGet(copy, path.slice(0, -1));
  if (Array.isArray(holder)) holder.splice(Number(step), 1);
  else delete (holder as { [key: string]: Model })[step];
  return copy;
}

const steps = fc.constantFrom('a', 'b', 'a/b', '~', '~1', '', '0', '1', '2', '-', '01');
const documents = fc.letrec<{ any: Model }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<Model>(null, true, 0, 1, 1.5, 'a', ''),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(steps, tie('any'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).any;
const paths = fc.array(steps, { maxLength: 3 });
const operations: fc.Arbitrary<ModelOperation> = fc.record({
  op: fc.constantFrom('add', 'add', 'replace', 'remove', 'move', 'copy', 'test'),
  path: paths,
  from: paths,
  value: documents,
});

const pointer = (path: readonly string[]) =>
  path.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function byModel(document: Model, { op, path, from, value }: ModelOperation): Model | undefined {
  try {
    return modelApply(document, { op, path, from, value });
  } catch {
    return undefined;
  }
}

describe('JSON Patch', () => {
  law(
    'has the same result on text as a simple implementation on values',
    fc.tuple(documents, operations),
    ([document, operation]) => {
      const { op, path, from, value } = operation;
      const patch = JSON.stringify([{ op, path: pointer(path), from: pointer(from), value }]);
      const result = patched(JSON.stringify(document), patch);
      const expected = byModel(document, operation);
      if (expected === undefined) expect(result).toHaveProperty('problem');
      else expect(JSON.parse((result as { text: string }).text)).toEqual(expected);
    },
    ([document, operation]) =>
      `${operation.op} ${byModel(document, operation) === undefined ? 'refused' : 'done'}`,
    ['add', 'replace', 'remove', 'move', 'copy', 'test'].flatMap((op) => [`${op} done`, `${op} refused`]),
  );
});
