import { describe, expect, test } from 'vitest';
import { batchResult } from '../../../lib/local/functions/batch-result.ts';

const IDS = ['a', 'b', 'c'];
const resultOf = (response: unknown) => batchResult({ ok: true, response }, IDS);
const failing = (...ids: unknown[]) => ({ batchItemFailures: ids.map((id) => ({ itemIdentifier: id })) });

describe('failed messages of a batch', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty answer', {}],
    ['no list', { batchItemFailures: null }],
    ['an empty list', failing()],
  ])('none: %s', (_what, response) => {
    expect(resultOf(response)).toEqual({ failed: new Set() });
  });

  test('are those that are listed', () => {
    expect(resultOf(failing('c', 'a', 'c'))).toEqual({ failed: new Set(['c', 'a']) });
  });

  test.each([
    ['an id of no message', failing('a', 'nobody')],
    ['an empty id', failing('a', '')],
    ['an id that is null', failing(null)],
    ['another name for the id', { batchItemFailures: [{ messageId: 'a' }] }],
    ['an entry that is null', { batchItemFailures: [null] }],
    ['a list that is none', { batchItemFailures: 'a' }],
    ['a text', 'done'],
    ['a list itself', []],
  ])('all, and why: %s', (_what, response) => {
    const { failed, problem } = resultOf(response);
    expect(failed).toEqual(new Set(IDS));
    expect(problem).toMatch(/batch|answer/);
  });

  test('are all messages after an error', () => {
    const problem = 'the process was ended by SIGKILL';
    expect(batchResult({ ok: false, problem }, IDS)).toEqual({ failed: new Set(IDS), problem });
  });
});
