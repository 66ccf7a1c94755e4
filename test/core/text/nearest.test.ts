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
    ['the first of two equally close words', 'abcd', ['abce', 'abcf'], 'abce'],
    ['a letter added at the beginning', 'xab', ['ab', 'xyab'], 'ab'],
    ['the fewest added letters', 'ab', ['abcd', 'abc'], 'abc'],
    ['two changes rather than three', 'kitten', ['sitting', 'mittens'], 'mittens'],
    ['a swap counts as one edit, like a replaced letter', 'bacd', ['bbcd', 'abcd'], 'bbcd'],
    ['a swap counts less than two replaced letters', 'baef', ['cdef', 'abef'], 'abef'],
    [
      'a swap counts as one edit next to another edit',
      'baxyefgh',
      ['bazzefgh', 'abxzefgh', 'cdxyefgh'],
      'bazzefgh',
    ],
    ['distant letters are not a swap', 'abcd', ['cbad', 'abdd'], 'abdd'],
    ['two replaced letters are not a swap', 'abef', ['cdef', 'abefg'], 'abefg'],
    ['not a swap: only the second letter comes first', 'abef', ['bxef', 'abefg'], 'abefg'],
    ['not a swap: only the first letter comes second', 'abef', ['xaef', 'abefg'], 'abefg'],
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

  it.each([
    ['an environment', 'test', ['prod', 'dev']],
    ['a folder', 'payments', ['docs', 'examples', 'lib']],
    ['a file', 'score.py', ['readme.md', 'flows.yaml']],
    ['an empty text', '', ['abc', 'ab']],
    ['an actor', 'fetch', ['score', 'store']],
  ])('suggests nothing for %s if more than every second letter differs', (_what, typed, words) => {
    expect(closestWord(typed, words)).toBeUndefined();
    expect(suggestion(typed, words)).toBe('');
  });

  it('suggests the word at the limit, and not the one beyond it', () => {
    expect(closestWord('stage', ['staging'])).toBe('staging');
    expect(closestWord('sta', ['staging'])).toBe('staging');
    expect(closestWord('st', ['staging'])).toBeUndefined();
  });

  it('is undefined without words', () => {
    expect(closestWord('a', [])).toBeUndefined();
    expect(suggestion('a', [])).toBe('');
  });

  it('is suggested in a message', () => {
    expect(suggestion('noretry', new Set(['default', 'noRetry']))).toBe('; did you mean "noRetry"?');
  });
});
