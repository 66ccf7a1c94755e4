import { describe, expect, it } from 'vitest';
import { closestWord, suggestion } from '../../../lib/core/text/nearest.ts';

describe('the nearest word', () => {
  it.each([
    ['a letter too few', 'maxAttempt', ['jitter', 'maxAttempts', 'maxInterval'], 'maxAttempts'],
    ['a letter too many', 'jittter', ['jitter', 'delays'], 'jitter'],
    ['another letter', 'linaar', ['constant', 'linear'], 'linear'],
    ['two letters swapped', 'lienar', ['xienax', 'linear'], 'linear'],
    ['two letters swapped at the front', 'ilnear', ['ilxeax', 'linear'], 'linear'],
    ['two letters swapped at the end', 'linera', ['xxnera', 'linear'], 'linear'],
    ['other capitals', 'NORETRY', ['default', 'noRetry'], 'noRetry'],
    ['the word itself', 'a', ['b', 'a', 'c'], 'a'],
    ['the first of two as near', 'ab', ['ac', 'ad'], 'ac'],
    ['nothing typed: the shortest', '', ['abc', 'a', 'ab'], 'a'],
    ['an empty word', 'x', ['abc', ''], ''],
    ['a letter added in front', 'xab', ['ab', 'xyab'], 'ab'],
    ['the fewest letters more', 'a', ['abcd', 'abc'], 'abc'],
    ['two changes beat three', 'kitten', ['sitting', 'mittens'], 'mittens'],
    ['a swap is one edit, as another letter is', 'ba', ['bb', 'ab'], 'bb'],
    ['a swap is less than two letters', 'ba', ['cd', 'ab'], 'ab'],
    ['a swap counts one beside another edit', 'baxy', ['bazz', 'abxz', 'cdxy'], 'bazz'],
    ['letters far apart are no swap', 'abc', ['cba', 'abd'], 'abd'],
    ['two other letters are no swap', 'ab', ['cd', 'abc'], 'abc'],
    ['half a swap is none: the second letter comes first', 'ab', ['bx', 'abc'], 'abc'],
    ['half a swap is none: the first letter comes second', 'ab', ['xa', 'abc'], 'abc'],
    [
      'a word left out at the end',
      'ASYA_SQS_WAIT_TIME',
      ['ASYA_SQS_ENDPOINT', 'ASYA_SQS_WAIT_TIME_SECONDS'],
      'ASYA_SQS_WAIT_TIME_SECONDS',
    ],
    ['a word left out inside', 'ASYA_SINK', ['ASYA_FANOUT', 'ASYA_ACTOR_SINK'], 'ASYA_ACTOR_SINK'],
    ['a word too many', 'ASYA_QUEUE_MAX_HOPS', ['ASYA_QUEUE_AUTO_CREATE', 'ASYA_MAX_HOPS'], 'ASYA_MAX_HOPS'],
  ])('%s', (_what, typed, words, nearest) => {
    expect(closestWord(typed, words)).toBe(nearest);
  });

  it('of none is none', () => {
    expect(closestWord('a', [])).toBeUndefined();
    expect(suggestion('a', [])).toBe('');
  });

  it('is proposed in words', () => {
    expect(suggestion('noretry', new Set(['default', 'noRetry']))).toBe('; did you mean "noRetry"?');
  });
});
