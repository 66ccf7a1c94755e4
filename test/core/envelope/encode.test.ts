import { describe, expect, it } from 'vitest';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { encode } from '../../../lib/core/envelope/encode.ts';
import { ORIGIN } from '../a-delivery.ts';

function reencoded(body: string): string {
  const arrival = decode(body, ORIGIN);
  if (arrival.kind !== 'readable') throw new Error(arrival.problem);
  return encode(arrival.envelope);
}

const ROUTE = '"route":{"prev":["fetch"],"curr":"score","next":["store"]}';

describe('encode writes the same text that decode read', () => {
  it.each([
    ['the required fields', `{"id":"e",${ROUTE},"headers":{},"payload":1}`],
    ['a parent', `{"id":"e","parent_id":"p",${ROUTE},"headers":{},"payload":1}`],
    ['headers', `{"id":"e",${ROUTE},"headers":{"a":9007199254740993,"b":[ 1 ]},"payload":1}`],
    ['a status', `{"id":"e",${ROUTE},"headers":{},"payload":1,"status":{"phase":"pending","more":[1]}}`],
    ['an empty status', `{"id":"e",${ROUTE},"headers":{},"payload":1,"status":{}}`],
    [
      'an unusual notation of the payload',
      `{"id":"e",${ROUTE},"headers":{},"payload":{ "n" : 9007199254740993, "n":1.0 }}`,
    ],
    ['unknown keys', `{"id":"e",${ROUTE},"headers":{},"payload":1,"more":[ 1 ],"m\\"":9007199254740993}`],
    ['quotes in the ids', `{"id":"e\\"","parent_id":"\\n",${ROUTE},"headers":{},"payload":1}`],
    ['a key called __proto__', `{"id":"e",${ROUTE},"headers":{},"payload":1,"__proto__":7}`],
  ])('with %s', (_what, body) => {
    expect(reencoded(body)).toBe(body);
  });

  it('writes only the new route shape', () => {
    expect(reencoded('{"id":"e","route":{"actors":["a","b"],"current":1},"payload":1}')).toBe(
      '{"id":"e","route":{"prev":["a"],"curr":"b","next":[]},"headers":{},"payload":1}',
    );
  });

  it('removes white space around a payload, but not inside it', () => {
    expect(reencoded(`{"id":"e",${ROUTE},"payload":\n [ 1, 2 ]\n}`)).toBe(
      `{"id":"e",${ROUTE},"headers":{},"payload":[ 1, 2 ]}`,
    );
  });
});
