import { describe, expect, it } from 'vitest';
import { reportsFromValue } from '../../../lib/core/task/report-input.ts';
import { isRecent, signatureFromText, signatureText } from '../../../lib/core/task/report-signature.ts';
import { anEndOf, aStep } from '../a-task.ts';

describe('reportsFromValue', () => {
  it.each([aStep('received', 0), aStep('completed', 2, { parent_id: 'p', flow: 'f' }), anEndOf('failed')])(
    'accepts %j',
    (report) => {
      const wire = JSON.parse(JSON.stringify({ reports: [{ ...report, unknown: 1 }] }));
      expect(reportsFromValue(wire, 10)).toEqual([report]);
    },
  );

  it.each([
    undefined,
    [],
    { reports: {} },
    { reports: [null] },
    { reports: [{ ...anEndOf(), phase: 'pending' }] },
    { reports: [{ ...anEndOf(), archive_key: undefined }] },
    { reports: [{ ...aStep('received', 0), hop: -1 }] },
    { reports: [{ ...aStep('received', 0), attempt: 1.5 }] },
    { reports: [{ ...aStep('received', 0), route: { prev: [1], curr: '', next: [] } }] },
    { reports: [{ ...aStep('received', 0), event: 'paused' }] },
    { reports: [{ ...aStep('received', 0), task: '' }] },
    { reports: Array(11).fill(anEndOf()) },
  ])('rejects all reports if one is invalid: %j', (value) => {
    expect(reportsFromValue(value, 10)).toBeUndefined();
  });
});

describe('the signature of a report', () => {
  const MAC = 'ab'.repeat(32);

  it('is read back from its text', () => {
    const signature = { seconds: 1_767_225_600, mac: MAC };
    expect(signatureFromText(signatureText(signature))).toEqual(signature);
  });

  it.each([
    undefined,
    '',
    't=1',
    `v1=${MAC}`,
    `t=x,v1=${MAC}`,
    `t=1,v1=${MAC}0`,
    `t=1,v1=${MAC.toUpperCase()}`,
  ])('is rejected: %s', (text) => {
    expect(signatureFromText(text)).toBeUndefined();
  });

  it('is valid for five minutes', () => {
    const signature = { seconds: 1_000, mac: MAC };
    expect([699, 700, 1_300, 1_301].map((second) => isRecent(signature, second * 1000))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
