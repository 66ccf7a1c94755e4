import { describe, expect, it } from 'vitest';
import { faultEnd, UNREACHABLE } from '../../core/a-delivery.ts';
import { failing, type Staging, simulated } from '../a-scenario.ts';

/** When each attempt at `score` started, in seconds. */
async function attemptsAt(policy: unknown, staging: Staging = {}): Promise<readonly number[]> {
  const { steps } = await simulated({
    policies: { default: policy },
    fail: { score: [failing('ValueError')] },
    ...staging,
  });
  return steps.filter(({ attempt }) => attempt !== undefined).map(({ atMs }) => atMs / 1000);
}

describe('a simulated retry', () => {
  it.each([
    ['constant', [0, 2, 4, 6]],
    ['linear', [0, 2, 6, 12]],
    ['exponential', [0, 2, 6, 14]],
  ])('waits according to its %s backoff', async (backoff, expected) => {
    expect(await attemptsAt({ maxAttempts: 4, backoff, initialDelay: '2s' })).toEqual(expected);
  });

  it('follows a schedule, whose last delay repeats', async () => {
    const policy = { maxAttempts: 4, backoff: 'schedule', delays: ['1s', '5s'] };
    expect(await attemptsAt(policy)).toEqual([0, 1, 6, 11]);
  });

  it('is capped, and starts after the previous call', async () => {
    const policy = { maxAttempts: 4, initialDelay: '2s', maxInterval: '3s' };
    expect(await attemptsAt(policy, { takesMs: { score: 500 } })).toEqual([0, 2.5, 6, 9.5]);
  });

  it('has random jitter, in whole seconds of SQS', async () => {
    const policy = { maxAttempts: 2, initialDelay: '20s', jitter: true };
    expect(await attemptsAt(policy, { randomValue: 0 })).toEqual([0, 20]);
    expect(await attemptsAt(policy, { randomValue: 0.5 })).toEqual([0, 21]);
    expect(await attemptsAt(policy, { randomValue: 0.75 })).toEqual([0, 22]);
    const { steps } = await simulated({
      policies: { default: policy },
      fail: { score: [failing('ValueError', 1)] },
      randomValue: 0.75,
    });
    expect(steps[0]?.decision).toMatchObject({ kind: 'retries', delayMs: 21_500, hasJitter: true });
    expect(steps[0]?.sends).toMatchObject([
      { to: 'score', type: 'retry', delayMs: 21_500, arrivesMs: 22_000 },
    ]);
  });

  it('waits for retry_after, at most maxInterval', async () => {
    const retryAfter = { score: [failing(faultEnd({ httpStatus: 429, retryAfter: 7 }), 1)] };
    const policy = { maxAttempts: 2, initialDelay: '2s' };
    expect(await attemptsAt(policy, { fail: retryAfter })).toEqual([0, 7]);
    expect(await attemptsAt({ ...policy, maxInterval: '4s' }, { fail: retryAfter })).toEqual([0, 4]);
    expect(await attemptsAt({ ...policy, initialDelay: '9s' }, { fail: retryAfter })).toEqual([0, 9]);
    const capped = await simulated({
      policies: { default: { ...policy, maxInterval: '4s' } },
      fail: retryAfter,
    });
    expect(capped.steps[0]?.decision).toMatchObject({
      retryAfterMs: 7_000,
      delayMs: 4_000,
      hasJitter: false,
    });
  });

  it('is resent if SQS cannot delay it long enough', async () => {
    const { timeline, requests, steps } = await simulated({
      policies: { default: { maxAttempts: 2, initialDelay: '40m' } },
      fail: { score: [failing('ValueError', 1)] },
    });
    expect(timeline).toEqual([
      '0s score 1 retries',
      '900s score waits',
      '1800s score waits',
      '2400s score 2 passes',
      '2400s x-sink kept',
    ]);
    expect(steps[1]?.decision).toEqual({ kind: 'waits', dueMs: 2_400_000 });
    expect(requests).toEqual({ sends: 5, receives: 5, deletes: 5 });
  });

  it('reports the policy, the rule and the pattern', async () => {
    const { steps } = await simulated({
      policies: { slow: { maxAttempts: 3, initialDelay: '1s' } },
      rules: [
        { errors: ['TypeError'], policy: 'noRetry' },
        { errors: ['KeyError', 'http:5xx'], policy: 'slow' },
      ],
      fail: { score: [failing(faultEnd({ httpStatus: 503 }), 1)] },
    });
    expect(steps[0]?.decision).toEqual({
      kind: 'retries',
      by: { policy: 'slow', rule: 1, pattern: 'http:5xx', isBuiltIn: false, maxAttempts: 3 },
      delayMs: 1_000,
      hasJitter: false,
    });
    expect(steps[0]?.call).toMatchObject({ outcome: 'error', tookMs: 0, timeoutMs: 300_000 });
  });

  it('uses the built-in policy for a lost connection', async () => {
    const { timeline, end, steps } = await simulated({ fail: { score: [failing(UNREACHABLE)] } });
    expect(timeline).toEqual([
      '0s score 1 retries',
      '1s score 2 retries',
      '3s score 3 retries',
      '7s score 4 retries',
      '15s score 5 exhausted',
      '15s x-sink kept',
      '15s x-sump entered',
    ]);
    expect(steps[0]?.decision).toMatchObject({
      by: { policy: 'connection', isBuiltIn: true, maxAttempts: 5 },
    });
    expect(end).toMatchObject({
      phase: 'failed',
      reason: 'RuntimeError',
      errorType: 'RuntimeConnectionError',
    });
  });

  it("prefers a rule's own policy over a built-in policy with the same name", async () => {
    const { steps } = await simulated({
      policies: { connection: { maxAttempts: 2, initialDelay: '50s' } },
      rules: [{ errors: ['ValueError'], policy: 'connection' }],
      fail: { score: [failing('ValueError', 1), failing(UNREACHABLE, 1)] },
    });
    const [first, second] = steps.map(({ decision }) => decision);
    expect(first).toMatchObject({ by: { isBuiltIn: false, maxAttempts: 2 }, delayMs: 50_000 });
    expect(second).toMatchObject({ by: { isBuiltIn: true, maxAttempts: 5 }, delayMs: 2_000 });
  });
});
