import { describe, expect, it } from 'vitest';
import { CONNECTION_POLICY } from '../../../lib/core/policy/policy.ts';
import { delayAfterAttempt } from '../../../lib/core/policy/policy-delay.ts';
import { anEnvelope, at, faultEnd, handle, type Setting, UNREACHABLE } from '../a-delivery.ts';

const ERROR = {
  type: 'RuntimeConnectionError',
  mro: ['ConnectionError', 'Exception'],
  message: 'connection refused',
  traceback: '',
};
const atAttempt = (attempt: number) =>
  anEnvelope({ status: { phase: 'retrying', actor: 'score', attempt: attempt - 1, created_at: at(-9_000) } });

describe('an unreachable runtime without a matching policy', () => {
  it.each([
    [2, 2_000],
    [3, 4_000],
    [4, 8_000],
  ])('is retried after attempt %d with a delay of %d ms', (attempt, delayMs) => {
    const { sends, sent, plan } = handle(atAttempt(attempt), UNREACHABLE);
    expect(sends[0]).toMatchObject({ to: 'score', type: 'retry', delayMs });
    expect(sent.status).toMatchObject({ phase: 'retrying', attempt, max_attempts: 5, error: ERROR });
    expect(plan.facts).toContainEqual({ fact: 'result', result: 'retried', delayMs });
    expect(plan.facts).toContainEqual({ fact: 'policy', policy: 'connection', maxAttempts: 5 });
  });

  it('is retried after a second, without jitter', () => {
    expect(handle(anEnvelope(), UNREACHABLE, { random: 0.9 }).sends[0]?.delayMs).toBe(1_000);
  });

  it('fails with RuntimeError after attempt 5', () => {
    const { sends, sent } = handle(atAttempt(5), UNREACHABLE);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink' });
    expect(sent.status).toMatchObject({
      phase: 'failed',
      reason: 'RuntimeError',
      attempt: 5,
      max_attempts: 5,
      error: ERROR,
    });
  });

  it('is also retried if rules match only other errors', () => {
    const setting: Setting = { policies: { slow: {} }, rules: [{ errors: ['ValueError'], policy: 'slow' }] };
    expect(handle(anEnvelope(), UNREACHABLE, setting).sent.status).toMatchObject({
      phase: 'retrying',
      max_attempts: 5,
    });
  });
});

describe('a connection error that the runtime reports', () => {
  it('uses the built-in policy and counts as an execution error', () => {
    const { sends, plan } = handle(anEnvelope(), faultEnd({ type: 'RuntimeConnectionError' }));
    expect(sends[0]).toMatchObject({ to: 'score', type: 'retry', delayMs: 1_000 });
    expect(plan.facts).toContainEqual({ fact: 'runtime-error', errorType: 'execution' });
  });

  it('does not use the built-in policy if only its last name is the same', () => {
    expect(handle(anEnvelope(), faultEnd({ type: 'ConnectionError' })).sends[0]?.to).toBe('x-sink');
  });
});

describe('an unreachable runtime with a matching policy', () => {
  it.each([['RuntimeConnectionError'], ['ConnectionError'], ['Exception']])(
    'is handled by a rule for %s',
    (name) => {
      const setting: Setting = {
        policies: { own: { maxAttempts: 2, initialDelay: '7s' } },
        rules: [{ errors: [name], policy: 'own' }],
      };
      const { sends, sent } = handle(anEnvelope(), UNREACHABLE, setting);
      expect(sends[0]).toMatchObject({ to: 'score', delayMs: 7_000 });
      expect(sent.status?.max_attempts).toBe(2);
      expect(handle(atAttempt(2), UNREACHABLE, setting).sent.status?.reason).toBe('PolicyExhausted');
    },
  );

  it('is handled by the default policy', () => {
    const { sent } = handle(anEnvelope(), UNREACHABLE, { policies: { default: {} } });
    expect(sent.status).toMatchObject({
      phase: 'failed',
      reason: 'PolicyExhausted',
      max_attempts: 1,
      error: ERROR,
    });
  });
});

describe('CONNECTION_POLICY', () => {
  it('has 5 attempts, exponential from 1 s to 30 s, and ends as RuntimeError', () => {
    expect(CONNECTION_POLICY).toEqual({
      maxAttempts: 5,
      backoff: { kind: 'exponential', initialMs: 1_000 },
      maxIntervalMs: 30_000,
      jitter: false,
      onExhausted: { action: 'sink' },
      exhaustedReason: 'RuntimeError',
    });
    expect([1, 2, 3, 4, 5, 6].map((attempt) => delayAfterAttempt(CONNECTION_POLICY, attempt, 0.5))).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 30_000,
    ]);
  });
});
