import { describe, expect, it } from 'vitest';
import { type Column, isKept, readColumns, tableText, writeColumn } from '../../tools/contract-table.ts';
import { aFolder } from '../support/a-folder.ts';

const GOOD: Column = {
  subject: 'one (engine)',
  testFile: 'test/contract/one.test.ts',
  laws: [
    ['it arrives', 'holds'],
    ['it waits', { skippedBecause: 'it cannot wait' }],
  ],
};
const POOR: Column = {
  subject: 'two',
  testFile: 'test/contract/two.test.ts',
  laws: [
    ['it arrives', 'BROKEN'],
    ['it waits', { skippedBecause: 'it cannot wait' }],
  ],
};

describe('the table of transports', () => {
  it('has the laws down, the subjects across, and each reason once below', () => {
    expect(tableText([GOOD, POOR]).split('\n')).toEqual([
      '| law        | one (engine) | two      |',
      '| ---------- | ------------ | -------- |',
      '| it arrives | holds        | BROKEN   |',
      '| it waits   | skip [1]     | skip [1] |',
      '[1] it cannot wait',
    ]);
  });

  it('is gathered from what each subject wrote, by whichever process', () => {
    const folder = aFolder({});
    writeColumn(folder, POOR);
    writeColumn(folder, GOOD);
    expect(readColumns(folder)).toEqual([GOOD, POOR]);
  });

  it('is good only where something ran, and everything that ran holds', () => {
    expect(isKept([GOOD])).toBe(true);
    expect(isKept([GOOD, POOR])).toBe(false);
    expect(isKept([{ ...GOOD, laws: [['it arrives', 'not run']] }])).toBe(false);
    expect(isKept([])).toBe(false);
  });
});
