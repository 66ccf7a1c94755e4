import { describe, expect, it } from 'vitest';
import { anEnvelope, at, handle, NOW, NOW_TEXT, type Setting, TIMEOUT } from '../a-delivery.ts';

const ERROR = {
  type: 'ActorTimeout',
  mro: ['TimeoutError', 'Exception'],
  message: 'no answer within 300000 ms',
  traceback: '',
};

describe('an actor timeout', () => {
  it.each([
    ['without a policy', {}],
    ['with only a default policy', { policies: { default: { maxAttempts: 9 } } }],
    [
      'with a rule for other errors',
      { policies: { default: { maxAttempts: 9 } }, rules: [{ errors: ['ValueError'], policy: 'default' }] },
    ],
  ] as readonly (readonly [string, Setting])[])('%s goes to x-sink as ActorTimeout', (_what, setting) => {
    const { sends, sent, plan } = handle(anEnvelope(), TIMEOUT, setting);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent.payload).toEqual({ n: 1 });
    expect(sent.route).toEqual({ prev: ['fetch'], curr: 'score', next: ['store'] });
    expect(sent.status).toEqual({
      phase: 'failed',
      reason: 'ActorTimeout',
      actor: 'score',
      attempt: 1,
      created_at: NOW_TEXT,
      updated_at: NOW_TEXT,
      error: ERROR,
    });
    expect(plan.settle).toBe('ack');
  });

  it.each(['ActorTimeout', 'TimeoutError', 'Exception'])('is retried if a rule matches %s', (name) => {
    const setting: Setting = {
      policies: { again: { maxAttempts: 2, initialDelay: '2s' } },
      rules: [{ errors: [name], policy: 'again' }],
    };
    const { sends, sent } = handle(anEnvelope(), TIMEOUT, setting);
    expect(sends[0]).toMatchObject({ to: 'score', type: 'retry', delayMs: 2_000 });
    expect(sent.status).toMatchObject({ phase: 'retrying', max_attempts: 2, error: ERROR });
  });

  it("ends with the policy's reason if a rule matches", () => {
    const rules = (policy: string): Setting => ({
      policies: { once: {} },
      rules: [{ errors: ['TimeoutError'], policy }],
    });
    expect(handle(anEnvelope(), TIMEOUT, rules('once')).sent.status?.reason).toBe('PolicyExhausted');
    expect(handle(anEnvelope(), TIMEOUT, rules('noRetry')).sent.status?.reason).toBe('NonRetryableFailure');
  });

  it('is not matched by another name', () => {
    const setting: Setting = {
      policies: { again: { maxAttempts: 2 } },
      rules: [{ errors: ['Timeout'], policy: 'again' }],
    };
    expect(handle(anEnvelope(), TIMEOUT, setting).sent.status?.reason).toBe('ActorTimeout');
  });

  it('can use the default policy by a rule', () => {
    const setting: Setting = {
      policies: { default: { maxAttempts: 2 } },
      rules: [{ errors: ['TimeoutError'], policy: 'default' }],
    };
    expect(handle(anEnvelope(), TIMEOUT, setting).sends[0]?.to).toBe('score');
  });
});

describe('a timeout that the deadline determined', () => {
  const setting: Setting = {
    policies: { again: { maxAttempts: 9 }, default: { maxAttempts: 9 } },
    rules: [{ errors: ['Exception', 'DeadlineExceeded', 'TimeoutError'], policy: 'again' }],
    later: NOW + 5_000,
  };

  it('goes to x-sink as Timeout for any rules', () => {
    const { sends, sent, plan } = handle(
      anEnvelope({ status: { deadline_at: at(5_000) } }),
      TIMEOUT,
      setting,
    );
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent.status).toMatchObject({ phase: 'failed', reason: 'Timeout', deadline_at: at(5_000) });
    expect(sent.status?.error).toEqual({
      type: 'DeadlineExceeded',
      mro: [],
      message: `the deadline was ${at(5_000)}; it is now ${at(5_000)}`,
      traceback: '',
    });
    expect(plan.settle).toBe('ack');
  });

  it('does not count as a runtime error', () => {
    const { plan } = handle(anEnvelope({ status: { deadline_at: at(5_000) } }), TIMEOUT, setting);
    expect(plan.facts.filter(({ fact }) => fact === 'runtime-error')).toEqual([]);
  });
});
