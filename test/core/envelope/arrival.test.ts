import { describe, expect, it } from 'vitest';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { arrive, deadlineMs } from '../../../lib/core/envelope/status.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { anEnvelope, handle, NOW, NOW_TEXT, ORIGIN, valueEnd } from '../a-delivery.ts';

const EARLIER = '2025-12-31T00:00:00Z';
const LATER = '2026-02-01T00:00:00Z';
const ERROR = { type: 'A', mro: [], message: '', traceback: '' };

function arrivedStatus(status?: object): object {
  const arrival = decode(JSON.stringify(anEnvelope(defined({ status }))), ORIGIN);
  if (arrival.kind !== 'readable') throw new Error(arrival.problem);
  return arrive(arrival.envelope, 'score', NOW).status;
}

const FRESH = { phase: 'pending', actor: 'score', attempt: 1, created_at: NOW_TEXT, updated_at: NOW_TEXT };

describe('arrive', () => {
  it('creates a missing status', () => {
    expect(arrivedStatus()).toEqual(FRESH);
  });

  it('increments the attempt of a retry and keeps created_at', () => {
    expect(
      arrivedStatus({
        phase: 'retrying',
        actor: 'score',
        attempt: 2,
        max_attempts: 3,
        created_at: EARLIER,
        updated_at: EARLIER,
        deadline_at: LATER,
        error: ERROR,
      }),
    ).toEqual({
      phase: 'pending',
      actor: 'score',
      attempt: 3,
      max_attempts: 3,
      created_at: EARLIER,
      updated_at: NOW_TEXT,
      deadline_at: LATER,
      error: ERROR,
    });
  });

  it('treats a retry without an attempt as the second one, started now', () => {
    expect(arrivedStatus({ phase: 'retrying', actor: 'score' })).toEqual({ ...FRESH, attempt: 2 });
  });

  it.each([
    ['another actor', { phase: 'pending', actor: 'fetch' }],
    ['a retry at another actor', { phase: 'retrying', actor: 'fetch' }],
    ['the same actor again in the route', { phase: 'pending', actor: 'score' }],
    ['an unknown actor', { phase: 'retrying' }],
    ['a phase of a later version', { phase: 'dreaming', actor: 'score' }],
    ['a success', { phase: 'succeeded', actor: 'score' }],
    ['a pause', { phase: 'paused', actor: 'score' }],
  ])('starts with attempt 1 after %s', (_what, before) => {
    const status = {
      ...before,
      attempt: 4,
      max_attempts: 5,
      reason: 'Timeout',
      created_at: EARLIER,
      updated_at: EARLIER,
      deadline_at: LATER,
      error: ERROR,
      more: 1,
    };
    expect(arrivedStatus(status)).toEqual({ ...FRESH, deadline_at: LATER, more: 1 });
  });

  it('keeps only the error of a failed envelope that was routed here', () => {
    const status = {
      phase: 'failed',
      reason: 'PolicyRouted',
      actor: 'fetch',
      attempt: 3,
      max_attempts: 3,
      created_at: EARLIER,
      deadline_at: LATER,
      error: ERROR,
    };
    expect(arrivedStatus(status)).toEqual({ ...FRESH, deadline_at: LATER, error: ERROR, cause: ERROR });
  });

  it('adds no error to a failed envelope without one', () => {
    expect(arrivedStatus({ phase: 'failed', actor: 'fetch' })).toStrictEqual(FRESH);
  });
});

describe('deadlineMs', () => {
  it.each([
    ['without a status', undefined, undefined],
    ['with a status without a deadline', {}, undefined],
    ['with a deadline', { deadline_at: NOW_TEXT }, NOW],
  ])('%s', (_what, status, expected) => {
    const arrival = decode(JSON.stringify(anEnvelope(defined({ status }))), ORIGIN);
    expect(arrival.kind === 'readable' && deadlineMs(arrival.envelope)).toBe(expected);
  });
});

describe('the status that a handler sees', () => {
  it('starts with attempt 1 after routing, and removes the error after a success', () => {
    const { admission, sent } = handle(
      anEnvelope({ status: { phase: 'failed', reason: 'PolicyRouted', actor: 'fetch', error: ERROR } }),
      valueEnd('handled'),
    );
    expect(admission.kind === 'call' && admission.envelope.status.error).toEqual(ERROR);
    expect(sent.status).toEqual({ ...FRESH, phase: 'pending' });
    expect(sent.status).not.toHaveProperty('error');
  });

  it('keeps unknown keys', () => {
    const { sends } = handle(
      anEnvelope({ parent_id: 'p', more: { a: 1 }, status: { deadline_at: LATER, later: 1 } }),
      valueEnd(1),
    );
    expect(sends[0]?.envelope).toEqual({
      id: 'e-1',
      parent_id: 'p',
      route: { prev: ['fetch', 'score'], curr: 'store', next: [] },
      headers: {},
      payload: 1,
      status: { ...FRESH, deadline_at: LATER, later: 1 },
      more: { a: 1 },
    });
  });
});
