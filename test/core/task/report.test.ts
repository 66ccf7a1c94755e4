import { describe, expect, it } from 'vitest';
import { finalReportOf } from '../../../lib/core/task/report.ts';
import { NOW_TEXT } from '../a-delivery.ts';
import { A_FAILURE, aFailed } from '../an-end.ts';

const TASK = { 'x-asya-task': 't-1' };

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
    });
  });

  it.each([{}, { 'x-asya-task': 7 }, { 'x-asya-flow': 'enhance' }])(
    'is undefined without a task: %j',
    (headers) => {
      expect(finalReportOf(aFailed({ headers }), 'k')).toBeUndefined();
    },
  );
});
