import { describe, expect, it } from 'vitest';
import {
  type Answer,
  answerFromHttp,
  answerFromSocket,
  faultFromErrorObject,
  nextProblem,
} from '../../../lib/core/delivery/answer.ts';

const transports: readonly (readonly [string, (text: string, fanOut: 'array' | 'never') => Answer])[] = [
  ['the socket', (text, fanOut) => answerFromSocket(text, fanOut)],
  ['HTTP', (text, fanOut) => answerFromHttp({ status: 200, text }, fanOut)],
];

describe.each(transports)('over %s', (_transport, answer) => {
  it.each([
    ['0'],
    ['false'],
    ['true'],
    ['""'],
    ['{}'],
    ['{"a":1}'],
    ['9007199254740993'],
    ['{ "n" : 1, "n":2 }'],
    ['"null"'],
  ])('%s is one value and keeps its bytes', (text) => {
    const frames = { kind: 'frames', frames: [{ payload: text }] };
    expect(answer(text, 'array')).toEqual(frames);
    expect(answer(` ${text}\n`, 'never')).toEqual(frames);
  });

  it('null is empty', () => {
    expect(answer('null', 'array')).toEqual({ kind: 'empty' });
    expect(answer(' null ', 'never')).toEqual({ kind: 'empty' });
  });

  it('each item of an array is a value and keeps its bytes', () => {
    expect(answer('[ 1.0 , {"a": 1}, [2], null ]', 'array')).toEqual({
      kind: 'frames',
      frames: [{ payload: '1.0' }, { payload: '{"a": 1}' }, { payload: '[2]' }, { payload: 'null' }],
    });
    expect(answer('[7]', 'array')).toEqual({ kind: 'frames', frames: [{ payload: '7' }] });
  });

  it.each([['[]'], ['[ ]']])('an array without items is empty: %s', (text) => {
    expect(answer(text, 'array')).toEqual({ kind: 'empty' });
  });

  it.each([['[]'], ['[1,2]'], ['[ null ]']])('with fan-out "never", an array is one value: %s', (text) => {
    expect(answer(text, 'never')).toEqual({ kind: 'frames', frames: [{ payload: text }] });
  });

  it.each([
    ['', 'unexpected end of text at line 1, column 1'],
    ['oops', 'unexpected "o" at line 1, column 1'],
    ['{"a":1', 'unexpected end of text at line 1, column 7'],
  ])('an answer that is not JSON counts as unreachable: %j', (text, place) => {
    expect(answer(text, 'array')).toEqual({
      kind: 'unreachable',
      detail: `the runtime's answer is not JSON: ${place}`,
    });
  });
});

describe('over the socket, an error is recognized by its shape', () => {
  it.each([
    ['a code, a message and a type', { error: 'e', message: 'm', type: 't' }],
    ['a code, an empty message and an empty type', { error: '', message: '', type: '' }],
    ['a code and details', { error: 'e', details: {} }],
    ['a code and details with more fields', { error: 'e', details: { type: 'T', message: 'm' } }],
  ])('an error: %s', (_what, object) => {
    expect(answerFromSocket(JSON.stringify(object), 'array').kind).toBe('fault');
  });

  it.each([
    ['an error key only', { error: 'e' }],
    ['without a type', { error: 'e', message: 'm' }],
    ['without a message', { error: 'e', type: 't' }],
    ['a code that is not text', { error: 7, message: 'm', type: 't' }],
    ['a code that is not text, with details', { error: true, details: {} }],
    ['a message that is not text', { error: 'e', message: 7, type: 't' }],
    ['a type that is not text', { error: 'e', message: 'm', type: null }],
    ['details that are null', { error: 'e', details: null }],
    ['details that are a list', { error: 'e', details: [] }],
    ['details that are text', { error: 'e', details: 'd' }],
    ['no error key', { message: 'm', type: 't', details: {} }],
  ])('a value: %s', (_what, object) => {
    const text = JSON.stringify(object);
    expect(answerFromSocket(text, 'array')).toEqual({ kind: 'frames', frames: [{ payload: text }] });
  });

  it('an error object in an array is a value', () => {
    const error = '{"error":"e","message":"m","type":"t"}';
    expect(answerFromSocket(`[${error}]`, 'array')).toEqual({ kind: 'frames', frames: [{ payload: error }] });
  });
});

describe('over HTTP, only the status identifies an error', () => {
  it.each([[200], [201], [202], [299], [399]])('%d with an error object is a value', (status) => {
    const text = '{"error":"e","message":"m","type":"t"}';
    expect(answerFromHttp({ status, text }, 'array')).toEqual({
      kind: 'frames',
      frames: [{ payload: text }],
    });
  });

  it('204 is empty for any body', () => {
    expect(answerFromHttp({ status: 204, text: '' }, 'array')).toEqual({ kind: 'empty' });
    expect(answerFromHttp({ status: 204, text: '{"a":1}' }, 'never')).toEqual({ kind: 'empty' });
  });

  it.each([
    ['an empty body', ''],
    ['an HTML page', '<html>'],
    ['a value', '{"a":1}'],
    ['a list', '["error"]'],
    ['an error key that is not text', '{"error":{"code":1}}'],
  ])('creates an error from %s', (_what, text) => {
    for (const status of [400, 404, 503]) {
      expect(answerFromHttp({ status, text }, 'array')).toEqual({
        kind: 'fault',
        fault: {
          type: 'HTTPError',
          mro: ['Exception'],
          message: text === '' ? `the runtime answered ${status}` : `the runtime answered ${status}: ${text}`,
          traceback: '',
          httpStatus: status,
        },
      });
    }
  });

  it('creates an error from a code only, with the status of the response', () => {
    expect(answerFromHttp({ status: 429, text: '{"error":"slow_down","retry_after":7}' }, 'array')).toEqual({
      kind: 'fault',
      fault: {
        type: 'slow_down',
        mro: [],
        message: 'slow_down',
        traceback: '',
        httpStatus: 429,
        retryAfter: 7,
      },
    });
  });

  it('prefers the status in the error object to that of the response', () => {
    const answer = answerFromHttp({ status: 500, text: '{"error":"e","http_status":404}' }, 'array');
    expect(answer.kind === 'fault' && answer.fault.httpStatus).toBe(404);
  });

  it.each([
    [500, '{"error":"e","message":"m","type":"t"}', undefined],
    [500, '{"error":"e","details":{}}', undefined],
    [503, '{"error":"e","message":"m","type":"t"}', 503],
    [404, '{"error":"e","message":"m","type":"t"}', 404],
    [500, '{"error":"e","message":"m","type":"t","http_status":429}', 429],
    [503, '{"error":"e","message":"m","type":"t","http_status":429}', 429],
    [500, '{"error":"e"}', 500],
    [500, '{"error":7,"message":"m","type":"t"}', 500],
  ])(
    '%d with %s has the HTTP status %s: runtimes answer every exception with 500',
    (status, text, httpStatus) => {
      const answer = answerFromHttp({ status, text }, 'array');
      expect(answer.kind === 'fault' && answer.fault.httpStatus).toBe(httpStatus);
      expect(answer.kind === 'fault' && 'httpStatus' in answer.fault).toBe(httpStatus !== undefined);
    },
  );

  it('uses the Retry-After header unless the error object contains retry_after', () => {
    const retryAfterOf = (text: string) => {
      const answer = answerFromHttp({ status: 503, text, retryAfter: '7' }, 'array');
      return answer.kind === 'fault' && answer.fault.retryAfter;
    };
    expect(retryAfterOf('')).toBe('7');
    expect(retryAfterOf('{"error":"e"}')).toBe('7');
    expect(retryAfterOf('{"error":"e","message":"m","type":"t"}')).toBe('7');
    expect(retryAfterOf('{"error":"e","retry_after":9}')).toBe(9);
    expect(retryAfterOf('{"error":"e","retry_after":null}')).toBe('7');
    expect(retryAfterOf('{"error":"e","details":{"retry_after":null},"retry_after":null}')).toBe('7');
    const without = answerFromHttp({ status: 503, text: '' }, 'array');
    expect(without.kind === 'fault' && without.fault).not.toHaveProperty('retryAfter');
  });

  it('shows only the beginning of a body', () => {
    const answer = answerFromHttp({ status: 502, text: 'x'.repeat(500) }, 'array');
    expect(answer.kind === 'fault' && answer.fault.message).toBe(
      `the runtime answered 502: ${'x'.repeat(200)}`,
    );
  });
});

describe('an error object', () => {
  it('is read with all its fields', () => {
    expect(
      faultFromErrorObject({
        error: 'code',
        message: 'm',
        type: 'pkg.Type',
        mro: ['A', 'B'],
        traceback: 'tb',
        http_status: 503,
        retry_after: 7,
      }),
    ).toEqual({
      type: 'pkg.Type',
      mro: ['A', 'B'],
      message: 'm',
      traceback: 'tb',
      httpStatus: 503,
      retryAfter: 7,
    });
  });

  it('is read with details', () => {
    expect(
      faultFromErrorObject({
        error: 'code',
        details: {
          type: 'T',
          message: 'm',
          mro: ['A'],
          traceback: 'tb',
          http_status: 500,
          retry_after: '9',
        },
      }),
    ).toEqual({ type: 'T', mro: ['A'], message: 'm', traceback: 'tb', httpStatus: 500, retryAfter: '9' });
  });

  it('uses outer fields that details does not contain', () => {
    const object = {
      error: 'code',
      details: { type: 'T' },
      message: 'outer',
      http_status: 418,
      type: 'Outer',
    };
    expect(faultFromErrorObject(object)).toMatchObject({ type: 'T', message: 'outer', httpStatus: 418 });
    const odd = {
      error: 'code',
      details: { type: 7, message: null, mro: 'A', traceback: 7, http_status: 'x', retry_after: null },
      type: 'T',
      message: 'm',
      mro: ['A'],
      traceback: 'tb',
      http_status: 418,
      retry_after: 7,
    };
    expect(faultFromErrorObject(odd)).toEqual({
      type: 'T',
      mro: ['A'],
      message: 'm',
      traceback: 'tb',
      httpStatus: 418,
      retryAfter: 7,
    });
  });

  it('prefers the fields of details', () => {
    const inner = { type: 'T', message: '', mro: [], traceback: '', http_status: 500, retry_after: 0 };
    const outer = { type: 'U', message: 'u', mro: ['U'], traceback: 'u', http_status: 400, retry_after: 9 };
    expect(faultFromErrorObject({ error: 'code', details: inner, ...outer })).toEqual({
      type: 'T',
      mro: [],
      message: '',
      traceback: '',
      httpStatus: 500,
      retryAfter: 0,
    });
  });

  it.each([
    ['missing', {}],
    ['empty', { type: '' }],
    ['not text', { type: 7 }],
    ['empty in details', { details: { type: '' } }],
    ['empty in both places', { type: '', details: { type: '' } }],
  ])('uses the code as the type if the type is %s', (_what, fields) => {
    expect(faultFromErrorObject({ error: 'code', ...fields }).type).toBe('code');
  });

  it('uses the code as the message if the message is missing, and keeps an empty message', () => {
    expect(faultFromErrorObject({ error: 'code' }).message).toBe('code');
    expect(faultFromErrorObject({ error: 'code', message: '' }).message).toBe('');
  });

  it('has the type Error without a code', () => {
    expect(faultFromErrorObject({})).toEqual({ type: 'Error', mro: [], message: 'Error', traceback: '' });
    expect(faultFromErrorObject({ error: 7 }).type).toBe('Error');
    expect(faultFromErrorObject({ error: '' }).type).toBe('Error');
  });

  it.each([
    [
      ['A', 7, null, 'B'],
      ['A', 'B'],
    ],
    ['A', []],
    [null, []],
    [{}, []],
  ])('reads an mro of %j as %j', (mro, ancestors) => {
    expect(faultFromErrorObject({ error: 'e', mro }).mro).toEqual(ancestors);
  });

  it.each([
    [100, true],
    [599, true],
    [503, true],
    [99, false],
    [600, false],
    [503.5, false],
    ['503', false],
    [null, false],
  ])('accepts http_status %j: %s', (status, counts) => {
    const fault = faultFromErrorObject({ error: 'e', http_status: status });
    expect(fault.httpStatus).toBe(counts ? status : undefined);
    expect('httpStatus' in fault).toBe(counts);
  });

  it.each([['details'], [['details']], [null], [7]])('uses the outer fields if details is %j', (details) => {
    expect(faultFromErrorObject({ error: 'e', type: 'T', details })).toMatchObject({ type: 'T' });
  });

  it('has no retryAfter without retry_after', () => {
    expect(faultFromErrorObject({ error: 'e' })).not.toHaveProperty('retryAfter');
  });
});

describe('the actors that a handler may add to the route', () => {
  it.each([
    ['no actors', [], undefined],
    ['any actor without ASYA_ROUTE_ALLOW', ['a', 'b'], undefined],
    ['allowed actors', ['a', 'b', 'a'], new Set(['a', 'b'])],
    ['no actors if none is allowed', [], new Set<string>()],
  ])('%s', (_what, next, allowed) => {
    expect(nextProblem(next, allowed)).toBeUndefined();
  });

  it.each([
    [
      'an invalid name',
      ['a', 'B'],
      undefined,
      'the handler\'s route.next[1] is "B"; an actor\'s name is 1 to 63',
    ],
    [
      'a reserved name',
      ['x-sink'],
      undefined,
      'the handler\'s route.next[0] is "x-sink"; names that start with "x-" are reserved',
    ],
    [
      'an actor that is not allowed',
      ['a', 'c'],
      new Set(['a', 'b']),
      'the handler\'s route.next[1] is "c"; ASYA_ROUTE_ALLOW allows a, b',
    ],
    ['any actor if none is allowed', ['a'], new Set<string>(), 'is "a"; ASYA_ROUTE_ALLOW allows no actors'],
    [
      'a reserved name, even if it is allowed',
      ['x-sump'],
      new Set(['x-sump']),
      'is "x-sump"; names that start with "x-" are reserved',
    ],
  ])('rejects %s', (_what, next, allowed, problem) => {
    expect(nextProblem(next, allowed)).toContain(problem);
  });

  it('over HTTP, frames have no next without the header', () => {
    expect(answerFromHttp({ status: 200, text: '[1]' }, 'array')).toStrictEqual({
      kind: 'frames',
      frames: [{ payload: '1' }],
    });
  });

  it("over HTTP, every frame has the header's next", () => {
    expect(answerFromHttp({ status: 200, text: '[1,2]', next: ['a'] }, 'array')).toEqual({
      kind: 'frames',
      frames: [
        { payload: '1', next: ['a'] },
        { payload: '2', next: ['a'] },
      ],
    });
    expect(answerFromHttp({ status: 200, text: 'null', next: ['a'] }, 'array')).toEqual({ kind: 'empty' });
    expect(answerFromHttp({ status: 200, text: '1', next: [] }, 'array')).toEqual({
      kind: 'frames',
      frames: [{ payload: '1', next: [] }],
    });
  });
});
