import { describe, expect, it } from 'vitest';
import {
  describeJsonError,
  type JsonText,
  jsonText,
  readJson,
  shallowValueFromJson,
  stringFromJson,
  textFromMembers,
} from '../../../lib/core/text/json-text.ts';

const GOOD: readonly string[] = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '7',
  '-7',
  '10',
  '1234567890',
  '0.5',
  '-0.5',
  '10.25',
  '1e3',
  '1E3',
  '1e+3',
  '1e-3',
  '0e0',
  '1.5e10',
  '9',
  '9007199254740993',
  '1e999',
  '""',
  '"a"',
  '"\\""',
  '"\\\\"',
  '"\\/\\b\\f\\n\\r\\t"',
  '"\\u0000\\uAfF9\\uaBcD\\u0919"',
  '"\\ud83d"',
  '"é€\u{1f600}"',
  '"\u007f"',
  '"{[,:]}"',
  '[]',
  '[ ]',
  '[1]',
  '[1,2]',
  '[1 , 2]',
  '[ 1,2 ]',
  '[[],[[]],{}]',
  '[{"a":[1,{"b":2}]},"x"]',
  '[[1,[2,[3,{"a":{}}]]],4]',
  '{}',
  '{ }',
  '{"a":1}',
  '{ "a" : 1 }',
  '{"a":1,"b":[1,2],"c":{"d":null}}',
  '{"a":{"b":{"c":1},"d":2},"e":3}',
  '{"a":[{"b":1},{"c":2}]}',
  '{"":0}',
  '{"a":1,"a":2}',
  ' \t\r\n1\n ',
  '\n{\t"a"\r:\n[ 1 ]\t}\n',
  '{"a":{ "b" : { } , "c" : [ ] } }',
];

const BAD: readonly string[] = [
  '',
  ' ',
  '\u00a01',
  '\ufeff1',
  '\u000b1',
  'nul',
  'nulll',
  'True',
  'undefined',
  'NaN',
  'Infinity',
  '-',
  '+1',
  '01',
  '-01',
  '00',
  '.5',
  '5.',
  '-.5',
  '1.e3',
  '1e',
  '1e+',
  '1e-',
  '1ee3',
  '1.2.3',
  '0x10',
  '1_000',
  '1 2',
  '--1',
  '/',
  ':',
  '"',
  '"a',
  '"a\\"',
  '"\\',
  '"\\x"',
  '"\\u"',
  '"\\u12"',
  '"\\u123"',
  '"\\u12g4"',
  '"\\u/123"',
  '"\\u:123"',
  '"\\u@123"',
  '"\\uG123"',
  '"\\u`123"',
  '"\\u000/"',
  '"\\U0041"',
  '"\t"',
  '"\n"',
  '"\u0000"',
  '"\u001f"',
  "'a'",
  '"a" "b"',
  '[',
  '[1',
  '[1,',
  '[1,]',
  '[,1]',
  '[1 2]',
  '[1}',
  '[1:2]',
  ']',
  '[]]',
  '[1]]',
  '[[1]',
  '[[1}]',
  '[[1,]]',
  '[[1 2]]',
  '[[,1]]',
  '[{]}',
  '{',
  '{"a"',
  '{"a":',
  '{"a":1',
  '{"a":1,',
  '{"a":1,}',
  '{,"a":1}',
  '{"a" 1}',
  '{"a",1}',
  '{"a":1 "b":2}',
  '{"a":1]',
  '{a:1}',
  '{1:1}',
  '{1}',
  '{null}',
  '{[]}',
  '{"a":1,2}',
  '{"a":{1}}',
  '{"a":{"b":1,2}}',
  '[{1}]',
  '[{"a":1,2}]',
  '{"\\1}',
  '{"\\1":2}',
  '[{"\\1}]',
  '[{"a":1,"\\1}]',
  "{'a':1}",
  '{"a":1}}',
  '{"a":{}',
  '{"a":{"b":1,}}',
  '{"a":{"b":1 "c":2}}',
  '{"a":{"b" 1}}',
  '{"a":{b:1}}',
  '{"a":{"b":1]}',
  '{"a":{"b":}}',
  '[{"b":}]',
  '[{"b"}]',
  '{"a":[1,{]}}',
  '{"a":1,b:2}',
  '{"a":"\\x"}',
  '{"a\\x":1}',
  '{"a',
  '[{"a',
  '[{"a":1,"b',
  '/* no */1',
  '1// no',
];

/** The result of `JSON.parse` for the same text. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

describe('readJson accepts valid JSON', () => {
  it.each(GOOD.map((text) => [text]))('%j', (text) => {
    const json = readJson(text);
    expect(parsed(text)).toBeDefined();
    expect(json).toMatchObject({ text: text.trim() });
    expect(json.kind).toBe(
      text.trim().startsWith('{') ? 'object' : text.trim().startsWith('[') ? 'array' : 'scalar',
    );
  });

  it.each(GOOD.map((text) => [`[${text},{"k":${text}},[${text}]]`]))('inside other values: %j', (text) => {
    const json = readJson(text);
    expect(json.kind).toBe('array');
    if (json.kind === 'array') expect(json.items.map((item) => JSON.parse(item))).toEqual(JSON.parse(text));
  });
});

describe('readJson rejects invalid JSON', () => {
  it.each(BAD.map((text) => [text]))('%j', (text) => {
    expect(parsed(text)).toBeUndefined();
    expect(readJson(text).kind).toBe('invalid');
  });

  it.each(BAD.flatMap((text) => [[`[${text},1]`], [`{"k":${text},"l":1}`]]))(
    'inside other values: %j',
    (text) => {
      // Some of the combinations are valid JSON.
      if (parsed(text) === undefined) expect(readJson(text).kind).toBe('invalid');
      else expect(readJson(text).kind).not.toBe('invalid');
    },
  );

  it.each([
    ['', 0],
    ['  ', 2],
    ['x', 0],
    ['1 x', 2],
    ['[1,x]', 3],
    ['[1 x]', 3],
    ['[1] x', 4],
    ['[', 1],
    ['[1', 2],
    ['[1,', 3],
    ['{"a":x}', 5],
    ['{"a" x}', 5],
    ['{"a":1 x}', 7],
    ['{x}', 1],
    ['{"a":1,x}', 7],
    ['{"a":1} x', 8],
    ['"abc', 4],
    ['"a\nb"', 2],
    ['"\\x"', 2],
    ['"\\u00x0"', 5],
    ['01', 1],
    ['-x', 1],
    ['1.x', 2],
    ['1ex', 2],
    ['1e+x', 3],
    ['[[1,x]]', 4],
    ['[[1 x]]', 4],
    ['[{x}]', 2],
    ['[{"a" x}]', 6],
    ['[{"a":x}]', 6],
    ['[{"a":1,x}]', 8],
    ['[{"a":1 x}]', 8],
    ['{"a":[1}', 7],
  ])('%j at %d', (text, at) => {
    expect(readJson(text)).toEqual({ kind: 'invalid', at });
  });
});

describe('readJson splits the outermost level and keeps the text of each value', () => {
  it('members of an object', () => {
    const json = readJson(' {"a" : 9007199254740993 , "b":[ 1,2 ], "c\\u0064" :{"x":1,"x":2}} ');
    expect(json).toEqual({
      kind: 'object',
      text: '{"a" : 9007199254740993 , "b":[ 1,2 ], "c\\u0064" :{"x":1,"x":2}}',
      members: new Map([
        ['a', '9007199254740993'],
        ['b', '[ 1,2 ]'],
        ['cd', '{"x":1,"x":2}'],
      ]),
    });
  });

  it('the last value of a duplicate key', () => {
    const json = readJson('{"a":1,"a":2}');
    expect(json.kind === 'object' && json.members.get('a')).toBe('2');
  });

  it.each([
    ['{"\\"":1}', '"'],
    ['{"\\\\":1}', '\\'],
    ['{"é":1}', 'é'],
    ['{"":1}', ''],
    ['{"__proto__":1}', '__proto__'],
  ])('the key of %s', (text, key) => {
    const json = readJson(text);
    expect(json.kind === 'object' && [...json.members]).toEqual([[key, '1']]);
  });

  it('items of an array', () => {
    expect(readJson('[ 1.50 , "a" ,{ "b":[] } , [ ] ]')).toEqual({
      kind: 'array',
      text: '[ 1.50 , "a" ,{ "b":[] } , [ ] ]',
      items: ['1.50', '"a"', '{ "b":[] }', '[ ]'],
    });
    expect(readJson(' [ ] ')).toEqual({ kind: 'array', text: '[ ]', items: [] });
    expect(readJson(' { } ')).toEqual({ kind: 'object', text: '{ }', members: new Map() });
  });

  it('a scalar', () => {
    expect(readJson('\t-1.5E+3\n')).toEqual({ kind: 'scalar', text: '-1.5E+3' });
  });
});

describe('deep nesting', () => {
  const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

  it('reads a hundred thousand brackets', () => {
    expect(readJson(`{"payload":${deep(100_000)}}`).kind).toBe('object');
  });

  it.each([
    ['1', 0],
    ['"a"', 0],
    ['[]', 0],
    ['{}', 0],
    ['[[]]', 1],
    ['[1]', 1],
    ['{"a":{}}', 1],
    ['{"a":1}', 1],
    ['[1,[2,[3]]]', 3],
    ['[[[1]],[[2]]]', 3],
  ])('%s needs a limit of %d levels', (text, levels) => {
    expect(shallowValueFromJson(text as JsonText, levels)).toEqual({ value: JSON.parse(text) });
    if (levels > 0) expect(shallowValueFromJson(text as JsonText, levels - 1)).toBeUndefined();
  });
});

describe('strings of any length', () => {
  const lengths = [
    0, 1, 22, 23, 24, 25, 26, 47, 48, 49, 50, 100, 511, 512, 1_021, 1_022, 1_023, 1_024, 1_025, 3_000,
  ];

  it.each(lengths)('%d letters', (length) => {
    const text = JSON.stringify('x'.repeat(length));
    expect(readJson(text)).toEqual({ kind: 'scalar', text });
    expect(readJson(`[${text},${text}]`)).toMatchObject({ items: [text, text] });
    expect(readJson(text.slice(0, -1))).toEqual({ kind: 'invalid', at: length + 1 });
  });

  it.each(lengths)('reports a line break after %d letters at its position', (length) => {
    expect(readJson(`"${'x'.repeat(length)}\n"`)).toEqual({ kind: 'invalid', at: length + 1 });
  });

  it.each(lengths)('an escape after %d letters', (length) => {
    for (const escaped of ['\\n', '\\"', '\\u0041', '\\\\']) {
      const text = `"${'x'.repeat(length)}${escaped}${'y'.repeat(length)}"`;
      expect(readJson(text)).toEqual({ kind: 'scalar', text });
    }
    expect(readJson(`"${'x'.repeat(length)}\\x"`)).toEqual({ kind: 'invalid', at: length + 2 });
  });

  it.each(lengths)('ends a string of %d letters at its closing quote', (length) => {
    const long = 'x'.repeat(length);
    for (const end of ['', '\\\\', '\\"', '\\\\\\"', '\\"\\"', '\\\\\\\\']) {
      const texts = [`"${long}${end}"`, '"y"', `"${end}${long}"`];
      expect(readJson(`[${texts.join(',')}]`)).toMatchObject({ kind: 'array', items: texts });
      expect(readJson(`{${texts[0]}:${texts[1]}}`)).toMatchObject({ kind: 'object' });
    }
    expect(readJson(`"${long}\\\\"x"`)).toEqual({ kind: 'invalid', at: length + 4 });
    expect(readJson(`"${long}\\"`)).toEqual({ kind: 'invalid', at: length + 3 });
    expect(readJson(`["${long}\\","y"]`)).toEqual({ kind: 'invalid', at: length + 6 });
    expect(readJson(`"${long}\n${long}"`)).toEqual({ kind: 'invalid', at: length + 1 });
    expect(readJson(`"${long}${long}\t"`)).toEqual({ kind: 'invalid', at: 2 * length + 1 });
  });
});

describe('stringFromJson and jsonText', () => {
  it.each([
    ['"a"', 'a'],
    ['"\\u0061\\n"', 'a\n'],
    ['""', ''],
    ['1', undefined],
    ['null', undefined],
    ['["a"]', undefined],
    [undefined, undefined],
  ])('%j contains %j', (text, value) => {
    expect(stringFromJson(text as JsonText | undefined)).toBe(value);
  });

  it.each([
    ['a"\n', '"a\\"\\n"'],
    [7, '7'],
    [true, 'true'],
    [null, 'null'],
  ])('writes %j as %s', (value, text) => {
    expect(jsonText(value)).toBe(text);
  });
});

describe('textFromMembers', () => {
  it.each([
    [[], '{}'],
    [[['a', '1']], '{"a":1}'],
    [
      [
        ['a', '1'],
        ['b"', '[ 1 ]'],
        ['', 'null'],
      ],
      '{"a":1,"b\\"":[ 1 ],"":null}',
    ],
  ] as readonly (readonly [readonly (readonly [string, string])[], string])[])('%j', (members, text) => {
    expect(textFromMembers(new Map(members as [string, JsonText][]))).toBe(text);
  });
});

describe('describeJsonError', () => {
  it.each([
    ['', 0, 'unexpected end of text at line 1, column 1'],
    ['abc', 3, 'unexpected end of text at line 1, column 4'],
    ['abc', 0, 'unexpected "a" at line 1, column 1'],
    ['abc', 2, 'unexpected "c" at line 1, column 3'],
    ['{\n  x}', 4, 'unexpected "x" at line 2, column 3'],
    ['\n\nx', 2, 'unexpected "x" at line 3, column 1'],
    ['a\nb', 1, 'unexpected "\\n" at line 1, column 2'],
    ['\n\n', 2, 'unexpected end of text at line 3, column 1'],
    ['\u{1f600}', 0, 'unexpected "\u{1f600}" at line 1, column 1'],
    ['"', 0, 'unexpected "\\"" at line 1, column 1'],
  ])('%j at %d: %s', (text, at, message) => {
    expect(describeJsonError(text, at)).toBe(message);
  });
});
