import { describe, expect, it } from 'vitest';
import { closestWord, suggestion } from '../../../lib/core/text/nearest.ts';

describe('closestWord', () => {
  it.each([
    ['a missing letter', 'maxAttempt', ['jitter', 'maxAttempts', 'maxInterval'], 'maxAttempts'],
    ['an additional letter', 'jittter', ['jitter', 'delays'], 'jitter'],
    ['a replaced letter', 'linaar', ['constant', 'linear'], 'linear'],
    ['two letters swapped', 'lienar', ['xienax', 'linear'], 'linear'],
    ['two letters swapped at the beginning', 'ilnear', ['ilxeax', 'linear'], 'linear'],
    ['two letters swapped at the end', 'linera', ['xxnera', 'linear'], 'linear'],
    ['a different case', 'NORETRY', ['default', 'noRetry'], 'noRetry'],
    ['the word itself', 'a', ['b', 'a', 'c'], 'a'],
    ['the first of two equally close words', 'ab', ['ac', 'ad'], 'ac'],
    ['the shortest word for an empty text', '', ['abc', 'a', 'ab'], 'a'],
    ['an empty word', 'x', ['abc', ''], ''],
    ['a letter added at the beginning', 'xab', ['ab', 'xyab'], 'ab'],
    ['the fewest added letters', 'a', ['abcd', 'abc'], 'abc'],
    ['two changes rather than three', 'kitten', ['sitting', 'mittens'], 'mittens'],
    ['a swap counts as one edit, like a replaced letter', 'ba', ['bb', 'ab'], 'bb'],
    ['a swap counts less than two replaced letters', 'ba', ['cd', 'ab'], 'ab'],
    ['a swap counts as one edit next to another edit', 'baxy', ['bazz', 'abxz', 'cdxy'], 'bazz'],
    ['distant letters are not a swap', 'abc', ['cba', 'abd'], 'abd'],
    ['two replaced letters are not a swap', 'ab', ['cd', 'abc'], 'abc'],
    ['not a swap: only the second letter comes first', 'ab', ['bx', 'abc'], 'abc'],
    ['not a swap: only the first letter comes second', 'ab', ['xa', 'abc'], 'abc'],
    [
      'a missing word at the end',
      'ASYA_SQS_WAIT_TIME',
      ['ASYA_SQS_ENDPOINT', 'ASYA_SQS_WAIT_TIME_SECONDS'],
      'ASYA_SQS_WAIT_TIME_SECONDS',
    ],
    ['a missing word inside', 'ASYA_SINK', ['ASYA_FANOUT', 'ASYA_ACTOR_SINK'], 'ASYA_ACTOR_SINK'],
    [
      'an additional word',
      'ASYA_QUEUE_MAX_HOPS',
      ['ASYA_QUEUE_AUTO_CREATE', 'ASYA_MAX_HOPS'],
      'ASYA_MAX_HOPS',
    ],
  ])('%s', (_what, typed, words, nearest) => {
    expect(closestWord(typed, words)).toBe(nearest);
  });

  it('is undefined without words', () => {
    expect(closestWord('a', [])).toBeUndefined();
    expect(suggestion('a', [])).toBe('');
  });

  it('is suggested in a message', () => {
    expect(suggestion('noretry', new Set(['default', 'noRetry']))).toBe('; did you mean "noRetry"?');
  });
});
