import { describe, expect, it } from 'vitest';
import type { Headers } from '../../../lib/core/envelope/envelope.ts';
import {
  headersFromHandler,
  headerText,
  isSidecarHeader,
  withHeader,
  withoutHeader,
} from '../../../lib/core/envelope/headers.ts';

const headersOf = (fields: Readonly<Record<string, string>>): Headers =>
  new Map(Object.entries(fields)) as never;

describe('headerText, withHeader and withoutHeader', () => {
  it('read text, and return undefined for any other value', () => {
    const headers = headersOf({ a: '"x"', b: '7' });
    expect(headerText(headers, 'a')).toBe('x');
    expect(headerText(headers, 'b')).toBeUndefined();
    expect(headerText(headers, 'c')).toBeUndefined();
  });

  it('set and remove a header in a copy', () => {
    const headers = headersOf({ a: '1' });
    expect([...withHeader(headers, 'b', 'x"')]).toEqual([
      ['a', '1'],
      ['b', '"x\\""'],
    ]);
    expect([...withoutHeader(headersOf({ a: '1', b: '2' }), 'a')]).toEqual([['b', '2']]);
    expect([...headers]).toEqual([['a', '1']]);
    withoutHeader(headers, 'a');
    expect([...headers]).toEqual([['a', '1']]);
  });

  it('make no copy to remove an absent header', () => {
    const headers = headersOf({ a: '1' });
    expect(withoutHeader(headers, 'b')).toBe(headers);
  });
});

describe('headers that belong to the sidecar', () => {
  it.each([
    ['traceparent', true],
    ['TraceParent', true],
    ['tracestate', true],
    ['deadline_at', true],
    ['x-asya-task', true],
    ['X-ASYA-anything', true],
    ['x-asya', false],
    ['my-x-asya-task', false],
    ['trace', false],
    ['_on_error', false],
    ['event_time', false],
  ])('%s: %s', (name, isOwn) => {
    expect(isSidecarHeader(name)).toBe(isOwn);
  });

  it('are kept for any answer of a handler', () => {
    const given = headersOf({ traceparent: '"t"', 'x-asya-task': '"k"', mine: '1' });
    const answered = headersOf({ traceparent: '"forged"', 'x-asya-flow': '"forged"', theirs: '2' });
    expect([...headersFromHandler(given, answered)]).toEqual([
      ['traceparent', '"t"'],
      ['x-asya-task', '"k"'],
      ['theirs', '2'],
    ]);
  });
});
