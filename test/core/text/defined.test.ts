import { describe, expect, expectTypeOf, it } from 'vitest';
import { defined } from '../../../lib/core/text/defined.ts';

describe('defined', () => {
  it('leaves out the properties that are undefined and keeps the order of the others', () => {
    const copy = defined({ last: 'z', absent: undefined, first: 'a' });
    expect(Object.keys(copy)).toEqual(['last', 'first']);
  });

  it('keeps null, false, 0 and empty text', () => {
    const properties = { none: null, off: false, zero: 0, empty: '' };
    expect(defined(properties)).toEqual(properties);
  });

  it('does not override a property that it leaves out', () => {
    const region: string | undefined = undefined;
    expect({ region: 'eu-west-1', ...defined({ region }) }).toEqual({ region: 'eu-west-1' });
  });

  it('makes exactly the properties optional that may be undefined', () => {
    const timeoutMs = 5 as number | undefined;
    const options: { readonly name: string; readonly timeoutMs?: number } = defined({ name: 'a', timeoutMs });
    expect(options).toEqual({ name: 'a', timeoutMs: 5 });
    // @ts-expect-error: a property that may be undefined cannot fill a required one
    const required: { readonly timeoutMs: number } = defined({ timeoutMs });
    expectTypeOf(required.timeoutMs).toEqualTypeOf<number>();
  });
});
