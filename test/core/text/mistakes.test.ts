import { describe, expect, it } from 'vitest';
import { describeReceived, describeValue, excerpt } from '../../../lib/core/text/describe-value.ts';
import {
  addUnknownKeys,
  type Mistake,
  mistakeCollector,
  mistakesText,
} from '../../../lib/core/text/mistake.ts';

describe('mistakeCollector', () => {
  it('adds keys and indexes to the location', () => {
    const mistakes: Mistake[] = [];
    const notes = mistakeCollector(mistakes, 'POLICIES');
    expect(notes.place).toBe('POLICIES');
    notes.add('one');
    notes.at('default').add('two');
    notes.at('default').at('delays').at(1).add('three');
    notes.at(0).at('errors').add('four');
    expect(notes.at('default').place).toBe('POLICIES.default');
    expect(mistakes).toEqual([
      { place: 'POLICIES', problem: 'one' },
      { place: 'POLICIES.default', problem: 'two' },
      { place: 'POLICIES.default.delays[1]', problem: 'three' },
      { place: 'POLICIES[0].errors', problem: 'four' },
    ]);
  });

  it('starts with an empty location', () => {
    expect(mistakeCollector([], '').at('rules').place).toBe('rules');
    expect(mistakeCollector([], '').at(2).place).toBe('[2]');
  });

  it('writes one line for each mistake', () => {
    expect(
      mistakesText([
        { place: 'A', problem: 'is wrong' },
        { place: 'B.c', problem: 'is worse' },
      ]),
    ).toBe('A: is wrong\nB.c: is worse');
    expect(mistakesText([])).toBe('');
  });

  it('adds a mistake for every unknown key', () => {
    const mistakes: Mistake[] = [];
    addUnknownKeys(mistakeCollector(mistakes, 'p'), { topic: 1, atcion: 2, zzz: 3 }, ['action', 'topic']);
    expect(mistakes).toEqual([
      { place: 'p.atcion', problem: 'is not a known field; did you mean "action"?' },
      { place: 'p.zzz', problem: 'is not a known field; the known fields are action, topic' },
    ]);
  });
});

describe('excerpt, describeValue and describeReceived', () => {
  it.each([
    ['x'.repeat(120), 'x'.repeat(120)],
    ['x'.repeat(121), `${'x'.repeat(120)}...`],
    ['', ''],
  ])('%s', (text, short) => {
    expect(excerpt(text)).toBe(short);
  });

  it.each([
    ['a', '"a"'],
    [7, '7'],
    [null, 'null'],
    [{ a: [1] }, '{"a":[1]}'],
    [undefined, 'undefined'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    ['x'.repeat(200), `"${'x'.repeat(119)}...`],
  ])('%j', (value, text) => {
    expect(describeValue(value)).toBe(text);
  });

  it('reports a missing value', () => {
    expect(describeReceived(undefined)).toBe('is missing');
    expect(describeReceived(null)).toBe('is null');
    expect(describeReceived('a')).toBe('is "a"');
  });
});
