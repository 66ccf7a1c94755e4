import { describe, expect, it } from 'vitest';
import {
  base64FromBytes,
  exceedsUtf8Bytes,
  headWithinUtf8,
  tailWithinUtf8,
  textFromUtf8,
  utf8Bytes,
} from '../../../lib/core/text/utf8.ts';

const SMILE = '\u{1f600}';

describe('textFromUtf8', () => {
  it('reads UTF-8', () => {
    expect(textFromUtf8(new TextEncoder().encode(`aé€${SMILE}`))).toBe(`aé€${SMILE}`);
    expect(textFromUtf8(new Uint8Array())).toBe('');
  });

  it('keeps a byte order mark', () => {
    expect(textFromUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe('\ufeffa');
  });

  it.each([
    ['a byte that is never valid in UTF-8', [0xff]],
    ['an incomplete character', [0xe2, 0x82]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['an overlong form', [0xc0, 0x80]],
  ])('rejects %s', (_what, bytes) => {
    expect(textFromUtf8(Uint8Array.from(bytes))).toBeUndefined();
  });
});

const MEASURED: readonly (readonly [string, string])[] = [
  ['empty text', ''],
  ['ASCII', 'abc'],
  ['the last character of one byte', '\u007f'],
  ['the first character of two bytes', '\u0080'],
  ['the last character of two bytes', '\u07ff'],
  ['the first character of three bytes', '\u0800'],
  ['the last character before the surrogates', '\ud7ff'],
  ['the first character after the surrogates', '\ue000'],
  ['the last character of three bytes', '\uffff'],
  ['a surrogate pair', SMILE],
  ['the lowest surrogate pair', '\u{10000}'],
  ['the highest surrogate pair', '\u{10ffff}'],
  ['a lone high surrogate', 'a\ud83d'],
  ['a lone low surrogate', '\ude00a'],
  ['surrogates in the wrong order', '\ude00\ud83d'],
  ['two high surrogates and a low one', '\ud83d\ud83d\ude00'],
  ['a high surrogate before a letter', '\ud83da'],
  ['a letter before a low surrogate', 'a\ude00'],
  ['a high surrogate before the first character after the surrogates', '\ud83d\ue000'],
  ['the last character before the surrogates, before a low surrogate', '\ud7ff\ude00'],
];

describe('utf8Bytes and exceedsUtf8Bytes', () => {
  it.each(MEASURED)('%s', (_what, text) => {
    expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
  });

  it.each([
    ['abc', 3, false],
    ['abc', 2, true],
    ['abc', 9, false],
    ['ééé', 6, false],
    ['ééé', 5, true],
    ['€€€', 9, false],
    ['€€€', 8, true],
    ['', 0, false],
    ['a', 0, true],
    ['a', Number.POSITIVE_INFINITY, false],
  ])('%j within %d', (text, limit, exceeds) => {
    expect(exceedsUtf8Bytes(text, limit)).toBe(exceeds);
  });
});

describe('headWithinUtf8', () => {
  it.each([
    ['abc', 2, 'ab'],
    ['abc', 3, 'abc'],
    ['abc', 9, 'abc'],
    ['abc', 0, ''],
    ['', 5, ''],
    ['é€', 2, 'é'],
    ['é€', 4, 'é'],
    ['é€', 5, 'é€'],
    [`a${SMILE}b`, 1, 'a'],
    [`a${SMILE}b`, 3, 'a'],
    [`a${SMILE}b`, 4, 'a'],
    [`a${SMILE}b`, 5, `a${SMILE}`],
    [`a${SMILE}b`, 6, `a${SMILE}b`],
    [`${SMILE}`, 2, ''],
    [`${SMILE}`, 4, SMILE],
    ['\ud83dab', 4, '\ud83da'],
    [`${SMILE}\ude00a`, 7, `${SMILE}\ude00`],
    [`${SMILE}\ude00a`, 4, SMILE],
    ['a\ude00b', 1, 'a'],
  ])('%j within %d is %j', (text, limit, head) => {
    expect(headWithinUtf8(text, limit)).toBe(head);
  });
});

describe('tailWithinUtf8', () => {
  it.each([
    ['abc', 2, 'bc'],
    ['abc', 3, 'abc'],
    ['abc', 9, 'abc'],
    ['abc', 0, ''],
    ['', 5, ''],
    ['é€', 3, '€'],
    ['é€', 4, '€'],
    ['é€', 5, 'é€'],
    [`a${SMILE}b`, 1, 'b'],
    [`a${SMILE}b`, 3, 'b'],
    [`a${SMILE}b`, 4, 'b'],
    [`a${SMILE}b`, 5, `${SMILE}b`],
    [`a${SMILE}b`, 6, `a${SMILE}b`],
    [`${SMILE}`, 2, ''],
    [`${SMILE}`, 4, SMILE],
    ['ab\ude00', 4, 'b\ude00'],
    [`a\ud83d${SMILE}`, 7, `\ud83d${SMILE}`],
    ['ab\ude00', 3, '\ude00'],
    [`${SMILE}\ude00`, 3, '\ude00'],
  ])('%j within %d is %j', (text, limit, tail) => {
    expect(tailWithinUtf8(text, limit)).toBe(tail);
  });
});

describe('base64FromBytes', () => {
  it.each([
    [[]],
    [[0]],
    [[255]],
    [[255, 254]],
    [[1, 2, 3]],
    [[255, 255, 255]],
    [[251, 240, 63, 190]],
    [[0, 0, 0, 0, 0]],
    [Array.from({ length: 256 }, (_, index) => index)],
    [Array.from({ length: 257 }, (_, index) => 255 - (index % 256))],
  ])('%j', (bytes) => {
    expect(base64FromBytes(Uint8Array.from(bytes))).toBe(Buffer.from(bytes).toString('base64'));
  });
});
