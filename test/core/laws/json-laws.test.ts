import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { readJson } from '../../../lib/core/text/json-text.ts';
import { law } from '../law.ts';
import { anyTexts, deepTexts, documentTexts, mutatedTexts, parses } from './json-arbitraries.ts';

describe('JSON as text', () => {
  /**
   * V8 13.6 (Node 24) may confuse escaped keys: after `{"b":1,"\\":0,"":1}` JSON.parse reads the "a" of
   * `{"b":1,"\u0061":0,"":1}` as a backslash. JSON.parse is the reference here, so no key contains a backslash.
   */
  const BACKSLASH_IN_KEY = /\\\\(?:[^"\\]|\\.)*"\s*:/s;

  const texts = fc
    .oneof(
      { weight: 16, arbitrary: documentTexts },
      { weight: 16, arbitrary: mutatedTexts(documentTexts) },
      { weight: 3, arbitrary: anyTexts },
      { weight: 3, arbitrary: fc.string() },
      { weight: 1, arbitrary: fc.oneof(deepTexts, mutatedTexts(deepTexts)) },
    )
    .filter((text) => !BACKSLASH_IN_KEY.test(text));

  law(
    'readJson accepts exactly what JSON.parse accepts, and splits it in the same way',
    texts,
    (text) => {
      const json = readJson(text);
      expect(json.kind !== 'invalid').toBe(parses(text));
      if (json.kind === 'invalid') {
        expect(json.at).toBeGreaterThanOrEqual(0);
        expect(json.at).toBeLessThanOrEqual(text.length);
        return;
      }
      expect(text.includes(json.text)).toBe(true);
      const value: unknown = JSON.parse(text);
      if (json.kind === 'scalar') {
        expect(isSame(JSON.parse(json.text), value)).toBe(true);
      } else if (json.kind === 'array') {
        expect(Array.isArray(value)).toBe(true);
        expect(
          isSame(
            json.items.map((item) => JSON.parse(item)),
            value,
          ),
        ).toBe(true);
      } else {
        const fields = value as Record<string, unknown>;
        expect([...json.members.keys()].sort()).toEqual(Object.keys(fields).sort());
        for (const [key, member] of json.members) expect(isSame(JSON.parse(member), fields[key])).toBe(true);
      }
    },
    (text) => {
      const json = readJson(text);
      const hasDuplicateKey =
        json.kind === 'object' && /"a".*"(a|\\u0061)"/s.test(text) && json.members.has('a');
      return [
        json.kind,
        ...(hasDuplicateKey ? ['duplicate key'] : []),
        ...(text.length > 10_000 ? ['deep'] : []),
      ];
    },
    ['object', 'array', 'scalar', 'invalid', 'duplicate key', 'deep'],
  );
});

/** Compares nested single-item values in a loop, because recursion cannot handle 10,000 levels. */
function isSame(one: unknown, other: unknown): boolean {
  let [left, right] = [one, other];
  for (;;) {
    const [leftOnly, rightOnly] = [onlyMember(left), onlyMember(right)];
    if (leftOnly === undefined || rightOnly === undefined) return isDeepStrictEqual(left, right);
    if (leftOnly[0] !== rightOnly[0] || Array.isArray(left) !== Array.isArray(right)) return false;
    [left, right] = [leftOnly[1], rightOnly[1]];
  }
}

function onlyMember(value: unknown): [string, unknown] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const entries = Object.entries(value);
  return entries.length === 1 ? entries[0] : undefined;
}
