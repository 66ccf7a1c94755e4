import { describe, expect, it } from 'vitest';
import {
  ACTOR_NAME_RULE,
  isActorName,
  isReservedName,
  isRoutableName,
} from '../../../lib/core/envelope/actor-name.ts';

describe('isActorName', () => {
  it.each([
    ['one letter', 'a'],
    ['one digit', '7'],
    ['letters, digits and dashes', 'fetch-2-images'],
    ['two dashes in a row', 'a--b'],
    ['63 characters', 'a'.repeat(63)],
    ['a reserved name', 'x-sink'],
  ])('accepts %s', (_what, name) => {
    expect(isActorName(name)).toBe(true);
  });

  it.each([
    ['empty text', ''],
    ['64 characters', 'a'.repeat(64)],
    ['an uppercase letter', 'Fetch'],
    ['a dash at the beginning', '-fetch'],
    ['a dash at the end', 'fetch-'],
    ['a single dash', '-'],
    ['a dot', 'a.b'],
    ['an underscore', 'a_b'],
    ['a space', 'a b'],
    ['a line break at the end', 'fetch\n'],
    ['a line break at the beginning', '-\nfetch'],
    ['letters other than a to z', 'größe'],
    ['a number', 7],
    ['null', null],
    ['a list of one name', ['fetch']],
    ['undefined', undefined],
  ])('rejects %s', (_what, name) => {
    expect(isActorName(name)).toBe(false);
    expect(isRoutableName(name)).toBe(false);
  });

  it('is described by ACTOR_NAME_RULE', () => {
    expect(ACTOR_NAME_RULE).toContain('1 to 63 characters of a-z, 0-9 and "-"');
    expect(ACTOR_NAME_RULE).toContain('no "-" at either end');
  });
});

describe('reserved names', () => {
  it.each([
    ['x-sink', true],
    ['x-', true],
    ['x', false],
    ['xsink', false],
    ['fix-x-rays', false],
  ])('%s: %s', (name, isCrew) => {
    expect(isReservedName(name)).toBe(isCrew);
  });

  it('are not valid in a route', () => {
    expect(isRoutableName('x-sink')).toBe(false);
    expect(isRoutableName('score')).toBe(true);
  });
});
