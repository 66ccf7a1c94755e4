import { describe, expect, it } from 'vitest';
import { causeText, errorText, stackText } from '../../../lib/core/text/error-text.ts';

const error = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });

describe('errorText', () => {
  it('is the message of an error', () => expect(errorText(error)).toBe('fetch failed'));

  it('is the text of anything else', () => {
    expect(errorText('stop')).toBe('stop');
    expect(errorText(undefined)).toBe('undefined');
  });
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
