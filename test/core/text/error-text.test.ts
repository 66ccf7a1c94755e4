import { describe, expect, it } from 'vitest';
import { causeText, errorText, namedErrorText, stackText } from '../../../lib/core/text/error-text.ts';

const error = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });

describe('errorText', () => {
  it('is the message of an error', () => expect(errorText(error)).toBe('fetch failed'));

  it('is the text of anything else', () => {
    expect(errorText('stop')).toBe('stop');
    expect(errorText(undefined)).toBe('undefined');
  });
});

describe('namedErrorText', () => {
  const named = (name: string, message: string) => Object.assign(new Error(message), { name });

  it.each([
    [named('ParameterNotFound', 'no such parameter'), 'ParameterNotFound: no such parameter'],
    [named('ParameterNotFound', ''), 'ParameterNotFound'],
    [named('ParameterNotFound', 'UnknownError'), 'ParameterNotFound'],
    [
      named('Refused', 'the signature is wrong\n\nthe request was\nx-amz-security-token:s3cret'),
      'Refused: the signature is wrong',
    ],
    ['stop', 'stop'],
  ])('of %o is %j', (thrown, text) => expect(namedErrorText(thrown)).toBe(text));
});

describe('causeText', () => {
  it("is the message of the error's cause", () => expect(causeText(error)).toBe('connect ECONNREFUSED'));

  it('is the error itself without a cause that is an error', () => {
    expect(causeText(new TypeError('no', { cause: 'text' }))).toBe('TypeError: no');
    expect(causeText('stop')).toBe('stop');
  });
});

describe('stackText', () => {
  it('is the stack of an error', () => expect(stackText(error)).toBe(error.stack));

  it('is the message of an error without a stack', () => {
    expect(stackText(Object.assign(new Error('no'), { stack: undefined }))).toBe('no');
  });

  it('is the text of anything else', () => expect(stackText('stop')).toBe('stop'));
});
