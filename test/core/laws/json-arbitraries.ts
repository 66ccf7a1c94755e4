import fc from 'fast-check';

/** JSON as text, because parsing would lose what the laws check: bytes, duplicate keys and large numbers. */

export const DEEP = 10_000;

const HOSTILE_TEXTS = [
  '9007199254740993',
  '{"n":12345678901234567890,"m":-9223372036854775808}',
  '1.000000000000000000001',
  '1e400',
  '-0',
  '{"a":1,"a":2,"a":{"a":3}}',
  '{"__proto__":{"polluted":true}}',
  '{"__proto__":null,"constructor":{"prototype":{"polluted":true}}}',
  '{"toString":1,"toJSON":2,"then":3}',
  '"\\ud800"',
  '{"\\udfff":"\\ud83d x"}',
  '"\\ud83d\\ude00 \u{1f600} \u2028\u2029\u0000"'.replace('\u0000', '\\u0000'),
  '{ "a" : [ 1 ,\t2 ] ,\r\n "b" : { } }',
  '{"error":"code"}',
  '{"error":"code","message":"m","type":"pkg.ValueError"}',
  '{"raw":"raw"}',
  '""',
  '0',
  'false',
  '{}',
  '[]',
  '[[]]',
  '[null]',
  'null',
  '[0,false,"",{}]',
  `"${'long'.repeat(200)}"`,
];

export const deepTexts = fc.constantFrom(
  '['.repeat(DEEP) + ']'.repeat(DEEP),
  `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
);

const space = fc.constantFrom('', '', '', ' ', '\n\t', '\r\n  ');

const digits = fc.constantFrom('0', '1', '7', '10', '12345678901234567890', '99');
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits,
    fc.constantFrom('', '.0', '.5', '.000000000000000000001'),
    fc.constantFrom('', 'e0', 'E+5', 'e-400', 'e400'),
  )
  .map((parts) => parts.join(''));

const stringPiece = fc.oneof(
  fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u0000', '\\uD83D', '\\udE00'),
  fc.constantFrom('a', '/', "'", '\u007f', '\u00e9', '\u2028', '\ufeff', '\u{1f600}', '__proto__'),
);
/** Lengths around the limit between the ways to read short and long strings. */
const runs = fc.constantFrom(
  ...[7, 22, 23, 24, 25, 70, 1_021, 1_022, 1_023, 1_024].map((length) => 'r'.repeat(length)),
);
const stringText = fc
  .array(fc.oneof({ weight: 5, arbitrary: stringPiece }, { weight: 1, arbitrary: runs }), { maxLength: 4 })
  .map((pieces) => `"${pieces.join('')}"`);
const keyText = fc.oneof(stringText, fc.constantFrom('"a"', '"b"', '"__proto__"', '"\\u0061"', '"0"', '""'));

interface Grammar {
  value: string;
}

const { value: grammarTexts } = fc.letrec<Grammar>((tie) => {
  const spaced = fc.tuple(space, tie('value'), space).map((parts) => parts.join(''));
  const member = fc
    .tuple(space, keyText, space, spaced)
    .map(([before, key, after, value]) => `${before}${key}${after}:${value}`);
  return {
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(numberText, stringText, fc.constantFrom('true', 'false', 'null')),
      fc.array(spaced, { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
      fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(',')}}`),
      space.map((inside) => `[${inside}]`),
    ),
  };
});

/** Any JSON value without white space around it, of limited size. */
export const smallTexts = fc.oneof(
  { withCrossShrink: true },
  { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  { weight: 1, arbitrary: grammarTexts },
);

/** Any JSON value without white space around it. */
export const jsonTexts = fc.oneof(
  { withCrossShrink: true },
  { weight: 100, arbitrary: smallTexts },
  { weight: 1, arbitrary: deepTexts },
);

/** JSON that JavaScript can represent without loss: the contents of a status or route are parsed. */
export const plainTexts = fc.constantFrom(
  '1',
  '"x"',
  'null',
  '{"a":[1,{}]}',
  '{"__proto__":{"polluted":1}}',
  '[]',
);

/** For tests of the JSON reader: with white space around it, and more of the grammar. */
export const documentTexts = fc
  .tuple(space, fc.oneof(grammarTexts, grammarTexts, jsonTexts, fc.json()), space)
  .map((parts) => parts.join(''));

/** Any UTF-16, including lone surrogates. */
export const anyTexts = fc
  .array(fc.oneof(fc.nat({ max: 0x7f }), fc.integer({ min: 0xd7ff, max: 0xe000 }), fc.nat({ max: 0xffff })), {
    maxLength: 40,
  })
  .map((units) => String.fromCharCode(...units));

const edits = fc.array(
  fc.record({
    at: fc.nat({ max: 1 << 20 }),
    remove: fc.constantFrom(0, 0, 1, 1, 2, 7, 1 << 20),
    insert: fc.constantFrom(
      '',
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '-',
      '.',
      'e',
      'u',
      'null',
      '\u0000',
      '\u001f',
      '\u00a0',
      '\ufeff',
      '\ud800',
      '\u2028',
      ' ',
      '""',
      '{"a":1}',
    ),
  }),
  { minLength: 1, maxLength: 3 },
);

/** The same texts with random deletions and insertions. */
export function mutatedTexts(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(texts, edits).map(([text, changes]) =>
    changes.reduce((changed, { at, remove, insert }) => {
      const place = at % (changed.length + 1);
      return changed.slice(0, place) + insert + changed.slice(place + remove);
    }, text),
  );
}

/** The same for bytes. The result may not be UTF-8. */
export function mutatedBytes(texts: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> {
  const changes = fc.array(fc.tuple(fc.nat({ max: 1 << 20 }), fc.integer({ min: 0, max: 255 })), {
    maxLength: 3,
  });
  return fc.tuple(texts, changes, fc.nat({ max: 1 << 20 }), fc.boolean()).map(([text, flips, cut, isCut]) => {
    const bytes = new Uint8Array(Buffer.from(text, 'utf8'));
    for (const [at, byte] of flips) if (bytes.length > 0) bytes[at % bytes.length] = byte;
    return isCut ? bytes.slice(0, cut % (bytes.length + 1)) : bytes;
  });
}

/** Whether JSON.parse accepts the text. */
export function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
