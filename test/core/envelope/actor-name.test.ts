import { describe, expect, it } from 'vitest';
import {
  ACTOR_NAME_RULE,
  isActorName,
  isCrewName,
  isRoutableName,
} from '../../../lib/core/envelope/actor-name.ts';

describe("an actor's name", () => {
  it.each([
    ['one letter', 'a'],
    ['one digit', '7'],
    ['letters, digits and dashes', 'fetch-2-images'],
    ['two dashes in a row', 'a--b'],
    ['63 characters', 'a'.repeat(63)],
    ['one of the mesh itself', 'x-sink'],
  ])('may be %s', (_what, name) => {
    expect(isActorName(name)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['64 characters', 'a'.repeat(64)],
    ['a capital', 'Fetch'],
    ['a dash in front', '-fetch'],
    ['a dash behind', 'fetch-'],
    ['a dash alone', '-'],
    ['a dot', 'a.b'],
    ['an underscore', 'a_b'],
    ['a blank', 'a b'],
    ['a line end behind', 'fetch\n'],
    ['a line in front', '-\nfetch'],
    ['letters beyond a to z', 'größe'],
    ['a number', 7],
    ['null', null],
    ['a list of one name', ['fetch']],
    ['undefined', undefined],
  ])('may not be %s', (_what, name) => {
    expect(isActorName(name)).toBe(false);
    expect(isRoutableName(name)).toBe(false);
  });

  it('is said by its rule', () => {
    expect(ACTOR_NAME_RULE).toContain('1 to 63 characters of a-z, 0-9 and "-"');
    expect(ACTOR_NAME_RULE).toContain('no "-" at either end');
  });
});

describe("the mesh's own names", () => {
  it.each([
    ['x-sink', true],
    ['x-', true],
    ['x', false],
    ['xsink', false],
    ['fix-x-rays', false],
  ])('%s: %s', (name, isCrew) => {
    expect(isCrewName(name)).toBe(isCrew);
  });

  it('never stand in a route', () => {
    expect(isRoutableName('x-sink')).toBe(false);
    expect(isRoutableName('score')).toBe(true);
  });
});
