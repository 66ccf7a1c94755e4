import { describe, expect, it } from 'vitest';
import { exactValueFromJson } from '../../../lib/core/text/exact-value.ts';
import type { JsonText } from '../../../lib/core/text/json-text.ts';

function exact(text: string): unknown {
  return exactValueFromJson(text as JsonText)?.value;
}

function nested(levels: number): string {
  return `${'['.repeat(levels)}1${']'.repeat(levels)}`;
}

describe('exactValueFromJson', () => {
  it.each([
    '9223372036854775807',
    '{"id":12345678901234567890,"list":[1.0,-0,1e400,0.1]}',
    '[true,false,null,"1.0",{}]',
  ])('is serialized to the original text: %s', (text) => {
    expect(JSON.stringify(exact(text))).toBe(text);
  });

  it('contains plain numbers if a double can represent them', () => {
    expect(exact('{"n":1,"half":0.5}')).toEqual({ n: 1, half: 0.5 });
  });

  it('is undefined if the value is nested too deeply', () => {
    expect(exact(nested(500))).toBeDefined();
    expect(exact(nested(501))).toBeUndefined();
  });
});
