import { describe, expect, it } from 'vitest';
import { checkInput } from '../../../lib/adapters/json-schema/check-input.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    url: { type: 'string', maxLength: 5 },
    sizes: { type: 'array', items: { type: 'integer', minimum: 1 } },
    kind: { enum: ['a', 'b'] },
  },
  required: ['url'],
  additionalProperties: false,
};
const EVIL = '<script>';

describe('an input', () => {
  it.each([{ url: 'a' }, { url: 'a', sizes: [1, 2], kind: 'b' }])('is valid: %j', (value) => {
    expect(checkInput(SCHEMA, value)).toEqual([]);
  });

  it.each([
    [EVIL, { place: '', problem: 'violates "type": "object"' }],
    [{}, { place: '', problem: 'requires ["url"]' }],
    [{ url: 7 }, { place: '/url', problem: 'violates "type": "string"' }],
    [{ url: EVIL }, { place: '/url', problem: 'violates "maxLength": 5' }],
    [
      { url: 'a', sizes: [1, 0] },
      { place: '/sizes/1', problem: 'violates "minimum": 1' },
    ],
    [
      { url: 'a', kind: EVIL },
      { place: '/kind', problem: 'violates "enum": ["a","b"]' },
    ],
    [
      { url: 'a', [EVIL]: EVIL },
      { place: '/*', problem: 'is not allowed here' },
    ],
  ])('is invalid: %j, with the place and rule of each error', (value, error) => {
    const errors = checkInput(SCHEMA, value);
    expect(errors).toContainEqual(error);
    expect(JSON.stringify(errors)).not.toContain(EVIL);
  });

  it('is invalid with a limited number of errors', () => {
    const sizes = Array<number>(500).fill(0);
    expect(checkInput(SCHEMA, { url: 'a', sizes }).length).toBeLessThanOrEqual(20);
  });
});
