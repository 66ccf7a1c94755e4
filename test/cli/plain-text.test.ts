import { describe, expect, it } from 'vitest';
import { cutTo, oneLine, wrapTo } from '../../lib/cli/output/plain-text.ts';
import { tableText } from '../../lib/cli/output/table.ts';

const RED = '\x1b[31m';
const CLOSE = '\x1b[39m';

describe('oneLine', () => {
  it.each([
    ['plain text', 'abcdef', 4, 'abc…'],
    ['text that fits', 'abcd', 4, 'abcd'],
    ['wide letters', '漢字漢字', 5, '漢字…'],
    ['a flag, which is two code points', 'ab🇩🇪cd', 4, 'ab…'],
    ['a heart with an emoji selector', '❤️❤️❤️', 5, '❤️❤️…'],
    ['a letter with a combining mark', 'e\u0301e\u0301e\u0301', 3, 'e\u0301e\u0301e\u0301'],
  ])('cuts %s at its display width', (_, text, columns, expected) => {
    expect(oneLine(text, columns)).toBe(expected);
  });
});

describe('cutTo', () => {
  it('does not count colors, and closes them at the cut', () => {
    expect(cutTo(`${RED}abcdef${CLOSE}`, 3)).toBe(`${RED}abc${CLOSE}`);
    expect(cutTo(`ab${RED}cd${CLOSE}`, 4)).toBe(`ab${RED}cd${CLOSE}`);
  });

  it('keeps spaces', () => {
    expect(cutTo('  a  b  c', 6)).toBe('  a  b');
  });

  it.each([
    ['abc', 0],
    ['漢字', 1],
  ])('leaves nothing of %s in %d columns', (line, columns) => {
    expect(cutTo(line, columns)).toBe('');
  });
});

describe('wrapTo', () => {
  it('breaks between words', () => {
    expect(wrapTo('one two three', 7)).toEqual(['one two', 'three']);
  });

  it('breaks a word that is longer than a row', () => {
    expect(wrapTo('abcdefgh', 3)).toEqual(['abc', 'def', 'gh']);
  });

  it('repeats the indent', () => {
    expect(wrapTo('  one two', 6)).toEqual(['  one', '  two']);
  });
});

describe('tableText', () => {
  it('aligns columns after emoji and wide letters', () => {
    const columns = [
      { title: 'A', text: ({ a }: { a: string }) => a },
      { title: 'B', text: () => 'b' },
    ];
    expect(tableText(columns, [{ a: '❤️' }, { a: '漢字' }]).split('\n')).toEqual([
      'A     B',
      '❤️    b',
      '漢字  b',
    ]);
  });
});
