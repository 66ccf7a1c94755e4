import { describe, expect, it } from 'vitest';
import { planAfterRefusal } from '../../../lib/core/delivery/plan.ts';
import { anEnvelope, at, faultEnd, handle, NOW, NOW_TEXT, type Setting, sendsOf } from '../a-delivery.ts';

const ERROR = { type: 'pkg.ValueError', mro: ['Exception'], message: 'no', traceback: 'at line 1' };
const THREE: Setting = { policies: { default: { maxAttempts: 3, initialDelay: '2s' } } };
const retryingAt = (attempt: number) => ({
  phase: 'retrying',
  actor: 'score',
  attempt,
  created_at: at(-9_000),
});

describe('a retry', () => {
  it('goes to its own queue with a delay, the same attempt and the error', () => {
    const received = anEnvelope({
      parent_id: 'p',
      headers: { a: 1 },
      more: 1,
      status: { deadline_at: at(60_000) },
    });
    const { sends, sent, plan } = handle(received, faultEnd(), THREE);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'score', type: 'retry', delayMs: 2_000 });
    expect(sent).toEqual({
      ...received,
      status: {
        phase: 'retrying',
        actor: 'score',
        attempt: 1,
        max_attempts: 3,
        created_at: NOW_TEXT,
        updated_at: NOW_TEXT,
        deadline_at: at(60_000),
        decided_by: { policy: 'default' },
        error: ERROR,
      },
    });
    expect(plan.settle).toBe('ack');
  });

  it('increments the attempt on arrival, and the next delay is longer', () => {
    const { sends, sent } = handle(anEnvelope({ status: retryingAt(1) }), faultEnd(), THREE);
    expect(sends[0]?.delayMs).toBe(4_000);
    expect(sent.status).toMatchObject({
      phase: 'retrying',
      attempt: 2,
      max_attempts: 3,
      created_at: at(-9_000),
    });
  });

  it('goes to x-sink after the last attempt', () => {
    const { sends, sent, plan } = handle(anEnvelope({ status: retryingAt(2) }), faultEnd(), THREE);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent.payload).toEqual({ n: 1 });
    expect(sent.route).toEqual({ prev: ['fetch'], curr: 'score', next: ['store'] });
    expect(sent.status).toEqual({
      phase: 'failed',
      reason: 'PolicyExhausted',
      actor: 'score',
      attempt: 3,
      max_attempts: 3,
      created_at: at(-9_000),
      updated_at: NOW_TEXT,
      decided_by: { policy: 'default' },
      error: ERROR,
    });
    expect(plan.settle).toBe('ack');
    expect(plan).not.toHaveProperty('otherwise');
  });

  it('removes max_attempts if attempts are unlimited', () => {
    const setting: Setting = { policies: { default: { maxAttempts: 'unlimited', maxDuration: '1h' } } };
    const status = { ...retryingAt(7), max_attempts: 8 };
    const { sent } = handle(anEnvelope({ status }), faultEnd(), setting);
    expect(sent.status).toMatchObject({ phase: 'retrying', attempt: 8 });
    expect(sent.status).not.toHaveProperty('max_attempts');
  });

  it('uses the random value for jitter', () => {
    const jitter: Setting = {
      policies: { default: { maxAttempts: 3, initialDelay: '2s', jitter: true } },
      random: 0.5,
    };
    expect(handle(anEnvelope(), faultEnd(), jitter).sends[0]?.delayMs).toBe(2_100);
  });

  it('uses the delay that the runtime requested', () => {
    expect(handle(anEnvelope(), faultEnd({ retryAfter: 7 }), THREE).sends[0]?.delayMs).toBe(7_000);
    expect(handle(anEnvelope(), faultEnd({ retryAfter: 1 }), THREE).sends[0]?.delayMs).toBe(2_000);
  });

  it('starts the requested delay at the time after the call', () => {
    const late = handle(anEnvelope(), faultEnd({ retryAfter: at(10_000) }), { ...THREE, later: NOW + 3_000 });
    expect(late.sends[0]?.delayMs).toBe(7_000);
    expect(late.sent.status?.updated_at).toBe(at(3_000));
  });
});

describe('a retry and the deadline', () => {
  it.each([
    [3_000, 'score', undefined],
    [2_999, 'x-sink', 'Timeout'],
  ])('%d ms until the deadline and a delay of 2 s: to %s', (leftMs, to, reason) => {
    const { sends, sent } = handle(anEnvelope({ status: { deadline_at: at(leftMs) } }), faultEnd(), THREE);
    expect(sends).toHaveLength(1);
    expect(sends[0]?.to).toBe(to);
    expect(sent.status?.reason).toBe(reason);
  });

  it('ends as Timeout with the original error if the deadline is too near', () => {
    const { sends, sent, plan } = handle(
      anEnvelope({ status: { deadline_at: at(2_500) } }),
      faultEnd(),
      THREE,
    );
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent.status).toMatchObject({ phase: 'failed', reason: 'Timeout', max_attempts: 3, error: ERROR });
    expect(sent.payload).toEqual({ n: 1 });
    expect(plan.settle).toBe('ack');
  });

  it('compares the deadline with the time after the call', () => {
    const setting = { ...THREE, later: NOW + 1 };
    const { sent } = handle(anEnvelope({ status: { deadline_at: at(3_000) } }), faultEnd(), setting);
    expect(sent.status?.reason).toBe('Timeout');
  });
});

describe('a retry that cannot be sent', () => {
  it('goes to x-sink as RuntimeError if the send is refused', () => {
    const { plan } = handle(anEnvelope(), faultEnd(), THREE);
    const fallback = planAfterRefusal(plan);
    expect(sendsOf(fallback)).toHaveLength(1);
    expect(sendsOf(fallback)[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sendsOf(fallback)[0]?.envelope).toMatchObject({
      payload: { n: 1 },
      status: { phase: 'failed', reason: 'RuntimeError', attempt: 1, max_attempts: 3, error: ERROR },
    });
    expect(fallback.settle).toBe('ack');
  });

  it('is not acknowledged if that send is refused too', () => {
    const { plan } = handle(anEnvelope(), faultEnd(), THREE);
    expect(planAfterRefusal(planAfterRefusal(plan))).toEqual({
      dispatches: [],
      settle: 'release',
      facts: [{ fact: 'failed', reason: 'transport_error' }],
    });
  });

  it('goes to x-sink immediately on a transport without delays', () => {
    const { sends, sent, plan } = handle(anEnvelope(), faultEnd(), { ...THREE, limits: { maxDelayMs: 0 } });
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent.status).toMatchObject({
      phase: 'failed',
      reason: 'RuntimeError',
      max_attempts: 3,
      error: ERROR,
    });
    expect(plan.settle).toBe('ack');
    expect(plan).not.toHaveProperty('otherwise');
  });

  it('does not prevent onExhausted on a transport without delays', () => {
    const setting: Setting = {
      policies: { default: { onExhausted: ['recover'] } },
      limits: { maxDelayMs: 0 },
    };
    expect(handle(anEnvelope(), faultEnd(), setting).sends[0]?.to).toBe('recover');
  });
});

describe('without a policy', () => {
  it.each([
    ['no resiliency at all', {}],
    ['policies without a default', { policies: { slow: { maxAttempts: 3 } } }],
    [
      'rules that do not match',
      { policies: { slow: {} }, rules: [{ errors: ['KeyError'], policy: 'slow' }] },
    ],
  ] as readonly (readonly [string, Setting])[])('%s: x-sink, RuntimeError, no retry', (_what, setting) => {
    const { sends, sent, plan } = handle(anEnvelope({ headers: { a: 1 } }), faultEnd(), setting);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent).toEqual({
      id: 'e-1',
      route: { prev: ['fetch'], curr: 'score', next: ['store'] },
      headers: { a: 1 },
      payload: { n: 1 },
      status: {
        phase: 'failed',
        reason: 'RuntimeError',
        actor: 'score',
        attempt: 1,
        created_at: NOW_TEXT,
        updated_at: NOW_TEXT,
        error: ERROR,
      },
    });
    expect(plan.settle).toBe('ack');
  });
});
