import { describe, expect, it } from 'vitest';
import { deriveId as hashed } from '../../../lib/adapters/system/system.ts';
import { errorOf, failureOf } from '../../../lib/core/failure/failure.ts';
import { recordOf } from '../../../lib/core/failure/record.ts';
import { NOW } from '../a-delivery.ts';
import { A_FAILURE, AN_ERROR, aFailed } from '../an-end.ts';

describe('a failure', () => {
  it('tells what failed, where, why, how often and when, and where the envelope is', () => {
    const headers = { 'x-asya-flow': 'enhance', 'x-asya-task': 't-1', 'x-asya-replay': 'r-1' };
    const envelope = aFailed({ headers });
    const { identity, archiveKey } = recordOf(envelope, NOW, hashed);
    expect(failureOf(envelope, NOW + 5_000, hashed)).toStrictEqual({
      identity,
      envelopeId: 'e-1',
      actor: 'score',
      archiveKey,
      replay: 'r-1',
      flow: 'enhance',
      task: 't-1',
      reason: 'PolicyExhausted',
      errorType: 'pkg.ValueError',
      errorMessage: 'no such user: 17',
      fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
      firstSeenMs: NOW - 60_000,
      lastSeenMs: NOW,
      attempts: 3,
      replays: [],
    });
  });

  it('has what it can have where a status says nothing', () => {
    const failure = failureOf(aFailed({ status: { phase: 'failed' } }), NOW, hashed);
    expect(failure).toMatchObject({
      reason: 'RuntimeError',
      errorType: 'unknown',
      errorMessage: '',
      firstSeenMs: NOW,
      lastSeenMs: NOW,
      attempts: 1,
    });
    for (const key of ['flow', 'task', 'replay']) expect(failure).not.toHaveProperty(key);
  });

  it('has a message of a kilobyte at most, and never half a character', () => {
    const message = `a${'\u{1F600}'.repeat(1_000)}`;
    const status = { ...A_FAILURE, error: { ...AN_ERROR, message } };
    const { errorMessage } = failureOf(aFailed({ status }), NOW, hashed);
    expect(Buffer.byteLength(errorMessage)).toBe(1_021);
    expect(errorMessage.isWellFormed()).toBe(true);
  });

  it('is grouped with its like, whatever the values in their messages', () => {
    const groupOf = (message: string, actor = 'score') =>
      failureOf(aFailed({ status: { ...A_FAILURE, actor, error: { ...AN_ERROR, message } } }), NOW, hashed)
        .fingerprint;
    expect(groupOf('no such user: 17')).toBe(groupOf('no such user: 4711'));
    expect(groupOf('no such user: 17')).not.toBe(groupOf('no such user: 17', 'store'));
    expect(groupOf('no such user: 17')).not.toBe(groupOf('no such order: 17'));
  });
});

describe('the error of a status', () => {
  it.each([
    [undefined],
    [null],
    [7],
    [''],
    [[]],
    [{}],
    [{ type: 7, message: null, traceback: {} }],
    [{ type: '' }],
  ])('may be anything: %j', (error) => {
    expect(errorOf(aFailed({ status: { phase: 'failed', error } }))).toEqual({
      type: 'unknown',
      message: '',
      traceback: '',
    });
  });

  it('that is a text is the message', () => {
    const { errorType, errorMessage, fingerprint } = failureOf(
      aFailed({ status: { ...A_FAILURE, error: 'no such user: 17' } }),
      NOW,
      hashed,
    );
    expect([errorType, errorMessage]).toEqual(['unknown', 'no such user: 17']);
    const other = failureOf(aFailed({ status: { ...A_FAILURE, error: 'no such order' } }), NOW, hashed);
    expect(other.fingerprint).not.toBe(fingerprint);
  });
});
