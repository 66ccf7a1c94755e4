import { describe, expect, it } from 'vitest';
import { type ApiItem, writeUnits } from '../../bench/cost/write-units.ts';

const IN_ONE = { pk: { S: 'p' }, owner: { S: 'me' }, seen_ms: { N: '1' } };
const IN_TWO = { ...IN_ONE, inbox: { S: 'ends' } };
const LARGE = { note: { S: 'x'.repeat(1_500) } };

describe('write units', () => {
  it.each<
    [what: string, before: ApiItem | undefined, after: ApiItem | undefined, table: number, indexes: number]
  >([
    ['of an item without indexes', undefined, { pk: { S: 'p' } }, 1, 0],
    ['of a new item in two indexes', undefined, IN_TWO, 1, 2],
    ['of an item above 1 KB, in one index', undefined, { ...IN_ONE, ...LARGE }, 2, 2],
    ['of a changed item: every index has whole items', IN_TWO, { ...IN_TWO, state: { S: 'ended' } }, 1, 2],
    ['of an unchanged item', IN_TWO, IN_TWO, 1, 0],
    ['of an item that gets smaller', { ...IN_ONE, ...LARGE }, IN_ONE, 2, 2],
    ['of an item that moves in one index', IN_ONE, { ...IN_ONE, owner: { S: 'you' } }, 1, 2],
    ['of an item that leaves one of two indexes', IN_TWO, IN_ONE, 1, 2],
    ['of a deleted item', IN_TWO, undefined, 1, 2],
    [
      'of binary data, by its decoded size',
      undefined,
      { pk: { S: 'p' }, task: { B: 'x'.repeat(1_320) } },
      1,
      0,
    ],
  ])('%s', (_what, before, after, table, indexes) => {
    expect(writeUnits(before, after)).toEqual({ table, indexes });
  });
});
