import { describe, expect, it } from 'vitest';
import { planAfterRefusal } from '../../../lib/core/delivery/plan.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { anEnvelope, at, faultEnd, handle, NOW_TEXT, type Setting } from '../a-delivery.ts';

const ERROR = { type: 'pkg.ValueError', mro: ['Exception'], message: 'no', traceback: 'at line 1' };
const ending = (onExhausted?: unknown): Setting => ({
  policies: { default: { maxAttempts: 1, ...defined({ onExhausted }) } },
});
const FAILED = {
  phase: 'failed',
  actor: 'score',
  attempt: 1,
  max_attempts: 1,
  created_at: NOW_TEXT,
  updated_at: NOW_TEXT,
  decided_by: { policy: 'default' },
  error: ERROR,
};
const RECEIVED = anEnvelope({ parent_id: 'p', headers: { a: 1 }, more: 2 });

describe('an exhausted policy without onExhausted', () => {
  it('goes to x-sink as PolicyExhausted', () => {
    const { sends, sent } = handle(RECEIVED, faultEnd(), ending());
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent).toEqual({ ...RECEIVED, status: { ...FAILED, reason: 'PolicyExhausted' } });
  });

  it.each(['noRetry', 'nonretryable'])('with %s goes to x-sink as NonRetryableFailure', (policy) => {
    const { sends, sent } = handle(RECEIVED, faultEnd(), { rules: [{ errors: ['ValueError'], policy }] });
    expect(sends[0]?.to).toBe('x-sink');
    expect(sent).toEqual({
      ...RECEIVED,
      status: { ...FAILED, reason: 'NonRetryableFailure', decided_by: { policy, rule: 0 } },
    });
  });
});

describe('an exhausted policy with actors in onExhausted', () => {
  it('routes to the first actor as failed and PolicyRouted, with the others next', () => {
    const { sends, sent, plan } = handle(RECEIVED, faultEnd(), ending(['recover', 'notify', 'end']));
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'recover', type: 'routed', delayMs: 0 });
    expect(sent).toEqual({
      ...RECEIVED,
      route: { prev: ['fetch', 'score'], curr: 'recover', next: ['notify', 'end'] },
      status: { ...FAILED, reason: 'PolicyRouted' },
    });
    expect(plan.settle).toBe('ack');
  });

  it('keeps the deadline', () => {
    const received = anEnvelope({ status: { deadline_at: at(60_000) } });
    expect(handle(received, faultEnd(), ending(['recover'])).sent.status?.deadline_at).toBe(at(60_000));
  });

  it('does not acknowledge if the send is refused', () => {
    expect(planAfterRefusal(handle(RECEIVED, faultEnd(), ending(['recover'])).plan).settle).toBe('release');
  });
});

describe('an exhausted policy with escalate', () => {
  it('goes to the topic and to x-sink, both as Escalated', () => {
    const { sends, plan } = handle(RECEIVED, faultEnd(), ending({ action: 'escalate', topic: 'on-call' }));
    expect(sends.map(({ to, type, delayMs }) => [to, type, delayMs])).toEqual([
      ['on-call', 'escalation', 0],
      ['x-sink', 'sink', 0],
    ]);
    for (const { envelope } of sends) {
      expect(envelope).toEqual({ ...RECEIVED, status: { ...FAILED, reason: 'Escalated' } });
    }
    expect(plan.settle).toBe('ack');
  });

  it('does not acknowledge if the send is refused', () => {
    const { plan } = handle(RECEIVED, faultEnd(), ending({ action: 'escalate', topic: 'on-call' }));
    expect(planAfterRefusal(plan).settle).toBe('release');
  });
});

describe('an exhausted policy with drop', () => {
  it('goes to x-sink as Dropped', () => {
    const { sends, sent, plan } = handle(RECEIVED, faultEnd(), ending({ action: 'drop' }));
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent).toEqual({ ...RECEIVED, status: { ...FAILED, reason: 'Dropped' } });
    expect(plan.settle).toBe('ack');
  });
});

describe('the sidecar never sends to x-sump', () => {
  it.each([
    ['exhausted', ending()],
    ['routed', ending(['recover'])],
    ['escalated', ending({ action: 'escalate', topic: 'on-call' })],
    ['dropped', ending({ action: 'drop' })],
    ['without a policy', {}],
  ])('%s', (_what, setting) => {
    expect(handle(RECEIVED, faultEnd(), setting).sends.map(({ to }) => to)).not.toContain('x-sump');
  });
});
