import { describe, expect, it } from 'vitest';
import { deriveId as hashed } from '../../../lib/adapters/system/system.ts';
import { errorOf, failureOf } from '../../../lib/core/failure/failure.ts';
import { recordOf } from '../../../lib/core/failure/record.ts';
import { NOW } from '../a-delivery.ts';
import { A_FAILURE, AN_ERROR, aFailed } from '../an-end.ts';

describe('failureOf', () => {
  it('contains envelope, actor, reason, error, attempts, times and archive key', () => {
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

  it('has defaults for an empty status', () => {
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

  it('limits the message to 1 KB without splitting characters', () => {
    const message = `a${'\u{1F600}'.repeat(1_000)}`;
    const status = { ...A_FAILURE, error: { ...AN_ERROR, message } };
    const { errorMessage } = failureOf(aFailed({ status }), NOW, hashed);
    expect(Buffer.byteLength(errorMessage)).toBe(1_021);
    expect(errorMessage.isWellFormed()).toBe(true);
  });

  it('has the same fingerprint for different values in the message', () => {
    const groupOf = (message: string, actor = 'score') =>
      failureOf(aFailed({ status: { ...A_FAILURE, actor, error: { ...AN_ERROR, message } } }), NOW, hashed)
        .fingerprint;
    expect(groupOf('no such user: 17')).toBe(groupOf('no such user: 4711'));
    expect(groupOf('no such user: 17')).not.toBe(groupOf('no such user: 17', 'store'));
    expect(groupOf('no such user: 17')).not.toBe(groupOf('no such order: 17'));
  });
});

describe('errorOf', () => {
  it.each([
    [undefined],
    [null],
    [7],
    [''],
    [[]],
    [{}],
    [{ type: 7, message: null, traceback: {} }],
    [{ type: '' }],
  ])('accepts any value: %j', (error) => {
    expect(errorOf(aFailed({ status: { phase: 'failed', error } }))).toEqual({
      type: 'unknown',
      message: '',
      traceback: '',
    });
  });

  it('uses text as the message', () => {
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
