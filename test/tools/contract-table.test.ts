import { describe, expect, it } from 'vitest';
import { type Column, isFulfilled, readColumns, tableText, writeColumn } from '../../tools/contract-table.ts';
import { aFolder } from '../support/a-folder.ts';

const GOOD: Column = {
  subject: 'one (engine)',
  testFile: 'test/contract/one.test.ts',
  laws: [
    ['it arrives', 'holds'],
    ['it waits', { skippedBecause: 'it cannot wait' }],
  ],
};
const BROKEN: Column = {
  subject: 'two',
  testFile: 'test/contract/two.test.ts',
  laws: [
    ['it arrives', 'BROKEN'],
    ['it waits', { skippedBecause: 'it cannot wait' }],
  ],
};

describe('the table of transports', () => {
  it('has a row per law and a column per subject, and lists each reason once below', () => {
    expect(tableText([GOOD, BROKEN]).split('\n')).toEqual([
      '| law        | one (engine) | two      |',
      '| ---------- | ------------ | -------- |',
      '| it arrives | holds        | BROKEN   |',
      '| it waits   | skip [1]     | skip [1] |',
      '[1] it cannot wait',
    ]);
  });

  it('is read from the files that the subjects wrote', () => {
    const folder = aFolder({});
    writeColumn(folder, BROKEN);
    writeColumn(folder, GOOD);
    expect(readColumns(folder)).toEqual([GOOD, BROKEN]);
  });

  it('passes only if a law ran, and every law that ran holds', () => {
    expect(isFulfilled([GOOD])).toBe(true);
    expect(isFulfilled([GOOD, BROKEN])).toBe(false);
    expect(isFulfilled([{ ...GOOD, laws: [['it arrives', 'not run']] }])).toBe(false);
    expect(isFulfilled([])).toBe(false);
  });
});
