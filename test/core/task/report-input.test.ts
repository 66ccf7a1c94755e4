import { describe, expect, it } from 'vitest';
import { reportsFromValue } from '../../../lib/core/task/report-input.ts';
import { isRecent, signatureFromText, signatureText } from '../../../lib/core/task/report-signature.ts';
import type { JsonText } from '../../../lib/core/text/json-text.ts';
import { anEndOf, anUpdate, aStep } from '../a-task.ts';

describe('reportsFromValue', () => {
  const data = '{"big": 12345678901234567890}' as JsonText;

  it.each([
    aStep('received', 0),
    aStep('completed', 2, { parent_id: 'p', flow: 'f' }),
    anEndOf('failed'),
    anEndOf('succeeded', { at: 'later', route: { prev: ['fetch'], curr: '', next: [] } }),
    aStep('processing', 1, { arrived_at: 'then', left_at: 'before', is_rerouted: true }),
    anUpdate(1, 1),
    anUpdate(1, 1_767_225_600_000, { percent: 12.5, message: 'm', data }),
  ])('accepts %j', (report) => {
    const wire = JSON.parse(JSON.stringify({ reports: [{ ...report, unknown: 1 }] }));
    expect(reportsFromValue(wire, 10)).toEqual([report]);
  });

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
    { reports: [{ ...anUpdate(1, 1), order: undefined }] },
    { reports: [{ ...anUpdate(1, 1), data: '{' }] },
    { reports: [{ ...anUpdate(1, 1), data: { n: 1 } }] },
    { reports: [{ ...anUpdate(1, 1), route: undefined }] },
    { reports: Array(11).fill(anEndOf()) },
  ])('rejects all reports if one is invalid: %j', (value) => {
    expect(reportsFromValue(value, 10)).toBeUndefined();
  });
});

describe('a progress report from the wire', () => {
  it('is limited again, and values of the wrong type are left out', () => {
    const wire = {
      ...anUpdate(1, 7),
      percent: 400,
      message: 'm'.repeat(9_999),
      data: `"${'x'.repeat(9_999)}"`,
    };
    expect(reportsFromValue({ reports: [wire] }, 1)).toEqual([
      anUpdate(1, 7, { percent: 100, message: 'm'.repeat(1024) }),
    ]);
    expect(reportsFromValue({ reports: [{ ...wire, percent: '4', message: {}, data: '1' }] }, 1)).toEqual([
      anUpdate(1, 7, { data: '1' as JsonText }),
    ]);
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
