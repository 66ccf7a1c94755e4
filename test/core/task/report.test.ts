import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../../lib/core/envelope/envelope.ts';
import { arrive } from '../../../lib/core/envelope/status.ts';
import { finalReportOf, visitReportOf } from '../../../lib/core/task/report.ts';
import { anEnvelope, NOW, NOW_TEXT } from '../a-delivery.ts';
import { A_FAILURE, aFailed, envelopeOf } from '../an-end.ts';

const TASK = { 'x-asya-task': 't-1' };
const ROUTE = { prev: ['fetch'], curr: 'score', next: ['store'] };

describe('finalReportOf', () => {
  it('contains phase, actor, reason and archive key', () => {
    const headers = { ...TASK, 'x-asya-flow': 'enhance' };
    expect(finalReportOf(aFailed({ headers, parent_id: 'p-1' }), 'the/key')).toStrictEqual({
      task: 't-1',
      flow: 'enhance',
      envelope_id: 'e-1',
      parent_id: 'p-1',
      event: 'final',
      actor: 'score',
      hop: 1,
      phase: 'failed',
      reason: 'PolicyExhausted',
      error: { type: 'pkg.ValueError', message: 'no such user: 17' },
      at: NOW_TEXT,
      archive_key: 'the/key',
      route: ROUTE,
    });
  });

  it.each(['succeeded', 'canceled'])('contains no error if the envelope %s', (phase) => {
    const status = { ...A_FAILURE, phase, reason: 'Completed' };
    const report = finalReportOf(aFailed({ headers: TASK, status }), 'k');
    expect(report).toMatchObject({ phase, reason: 'Completed' });
    expect(report).not.toHaveProperty('error');
  });

  it('truncates a long error', () => {
    const status = { ...A_FAILURE, error: { type: 'pkg.ValueError', message: 'é'.repeat(100_000) } };
    const { error } = finalReportOf(aFailed({ headers: TASK, status }), 'k') ?? {};
    expect(error?.message).toBe('é'.repeat(512));
  });

  it('contains no payload', () => {
    const report = finalReportOf(aFailed({ headers: TASK, payload: 'a secret' }), 'k');
    expect(JSON.stringify(report)).not.toContain('secret');
  });

  it('leaves out absent fields', () => {
    const report = finalReportOf(aFailed({ headers: TASK, status: { phase: 7, reason: 7 } }), 'k');
    expect(report).toStrictEqual({
      task: 't-1',
      envelope_id: 'e-1',
      event: 'final',
      actor: 'score',
      hop: 1,
      phase: 'failed',
      error: { type: 'unknown', message: '' },
      archive_key: 'k',
      route: ROUTE,
    });
  });

  it.each([{}, { 'x-asya-task': 7 }, { 'x-asya-flow': 'enhance' }])(
    'is undefined without a task: %j',
    (headers) => {
      expect(finalReportOf(aFailed({ headers }), 'k')).toBeUndefined();
    },
  );
});

describe('visitReportOf', () => {
  const LEFT = '2025-12-31T23:59:50Z';

  function reportOn(original: Envelope) {
    return visitReportOf(arrive(original, 'score', NOW), original, 'score');
  }

  it('contains when the envelope left the actor before, and when it arrived', () => {
    const status = { phase: 'pending', actor: 'fetch', updated_at: LEFT };
    expect(reportOn(envelopeOf(anEnvelope({ headers: TASK, status })))).toStrictEqual({
      task: 't-1',
      envelope_id: 'e-1',
      event: 'processing',
      actor: 'score',
      hop: 1,
      attempt: 1,
      route: ROUTE,
      arrived_at: NOW_TEXT,
      left_at: LEFT,
    });
  });

  it.each([
    ['of an envelope without a status', {}, ['arrived_at']],
    [
      'of a retry',
      { status: { phase: 'retrying', actor: 'score', attempt: 1, updated_at: LEFT } },
      ['arrived_at'],
    ],
    [
      'of an envelope that was routed here because the actor before failed',
      { status: { phase: 'failed', actor: 'fetch', updated_at: LEFT, error: { type: 'ValueError' } } },
      ['arrived_at', 'is_rerouted'],
    ],
  ])('contains only what is known: %s', (_what, changes, known) => {
    const report = reportOn(envelopeOf(anEnvelope({ headers: TASK, ...changes })));
    const optional = ['arrived_at', 'left_at', 'is_rerouted'];
    expect(Object.keys(report ?? {}).filter((key) => optional.includes(key))).toEqual(known);
  });

  it.each([{}, { ...TASK, 'x-asya-replay': 'r-1' }])(
    'is undefined without a task to report to: %j',
    (headers) => {
      expect(reportOn(envelopeOf(anEnvelope({ headers })))).toBeUndefined();
    },
  );
});
