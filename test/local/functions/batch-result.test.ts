import { describe, expect, test } from 'vitest';
import { batchResult } from '../../../lib/local/functions/batch-result.ts';

const IDS = ['a', 'b', 'c'];
const resultOf = (response: unknown) => batchResult({ ok: true, response }, IDS);
const failing = (...ids: unknown[]) => ({ batchItemFailures: ids.map((id) => ({ itemIdentifier: id })) });

describe('failed messages of a batch', () => {
  test.each([
    ['no response', undefined],
    ['null', null],
    ['an empty response', {}],
    ['null instead of a list', { batchItemFailures: null }],
    ['an empty list', failing()],
  ])('are empty for %s', (_what, response) => {
    expect(resultOf(response)).toEqual({ failed: new Set() });
  });

  test('are the listed ones', () => {
    expect(resultOf(failing('c', 'a', 'c'))).toEqual({ failed: new Set(['c', 'a']) });
  });

  test.each([
    ['an unknown id', failing('a', 'unknown')],
    ['an empty id', failing('a', '')],
    ['an id that is null', failing(null)],
    ['another key for the id', { batchItemFailures: [{ messageId: 'a' }] }],
    ['an entry that is null', { batchItemFailures: [null] }],
    ['a string instead of a list', { batchItemFailures: 'a' }],
    ['text', 'done'],
    ['a list', []],
  ])('are all messages, with the reason, for %s', (_what, response) => {
    const { failed, problem } = resultOf(response);
    expect(failed).toEqual(new Set(IDS));
    expect(problem).toMatch(/batchItemFailures/);
  });

  test('are all messages after an error', () => {
    const problem = 'the process was terminated by SIGKILL';
    expect(batchResult({ ok: false, problem }, IDS)).toEqual({ failed: new Set(IDS), problem });
  });
});
