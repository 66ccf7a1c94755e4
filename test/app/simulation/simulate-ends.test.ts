import { describe, expect, it } from 'vitest';
import { faultEnd, TIMEOUT } from '../../core/a-delivery.ts';
import { failing, type Staging, simulated } from '../a-scenario.ts';

const ALWAYS = { score: [failing('ValueError')] };

function once(policy: object, staging: Staging = {}) {
  return simulated({ policies: { default: policy }, fail: ALWAYS, ...staging });
}

describe('a simulated envelope', () => {
  it('follows its route to x-sink, with the duration of each call', async () => {
    const { timeline, end, requests, deadline } = await simulated({
      next: ['store'],
      takesMs: { score: 1_500, store: 250 },
      timeoutMs: 10_000,
    });
    expect(timeline).toEqual(['0s score 1 passes', '1.5s store 1 passes', '1.75s x-sink kept']);
    expect(end).toEqual({
      kind: 'ended',
      atMs: 1_750,
      phase: 'succeeded',
      reason: 'Completed',
      actor: 'store',
      went: ['x-sink'],
    });
    expect(deadline).toEqual({ verdict: 'met', deadlineMs: 10_000, spareMs: 8_250 });
    expect(requests).toEqual({ sends: 3, receives: 3, deletes: 3 });
  });

  it('fails at once without a matching policy', async () => {
    const { timeline, end, deadline } = await simulated({ fail: ALWAYS, timeoutMs: 10_000 });
    expect(timeline).toEqual(['0s score 1 uncovered', '0s x-sink kept', '0s x-sump entered']);
    expect(end).toMatchObject({
      reason: 'RuntimeError',
      errorType: 'ValueError',
      went: ['x-sink', 'x-sump'],
    });
    expect(deadline).toEqual({ verdict: 'not-reached', deadlineMs: 10_000, spareMs: 10_000 });
  });

  it('ends after its last attempt', async () => {
    const { timeline, steps, end } = await once({ maxAttempts: 2, initialDelay: '3s' });
    expect(timeline.slice(0, 2)).toEqual(['0s score 1 retries', '3s score 2 exhausted']);
    expect(steps[1]?.decision).toMatchObject({ ranOut: 'attempts', reason: 'PolicyExhausted' });
    expect(end).toMatchObject({ atMs: 3_000, reason: 'PolicyExhausted' });
  });

  it('ends after maxDuration', async () => {
    const policy = { maxAttempts: 'unlimited', maxDuration: '10s', backoff: 'constant', initialDelay: '4s' };
    const { timeline, steps } = await once(policy);
    expect(timeline.slice(0, 4)).toEqual([
      '0s score 1 retries',
      '4s score 2 retries',
      '8s score 3 retries',
      '12s score 4 exhausted',
    ]);
    expect(steps[3]?.decision).toMatchObject({ ranOut: 'maxDuration', limitMs: 10_000 });
    expect(steps[0]?.decision).not.toHaveProperty('by.maxAttempts');
  });

  it('ends after expireAfter', async () => {
    const policy = { maxAttempts: 'unlimited', expireAfter: '1h', backoff: 'constant', initialDelay: '10s' };
    const headers = { event_time: '2025-12-31T23:00:15Z' };
    const { timeline, steps } = await once(policy, { headers });
    expect(timeline.slice(0, 3)).toEqual([
      '0s score 1 retries',
      '10s score 2 retries',
      '20s score 3 exhausted',
    ]);
    expect(steps[2]?.decision).toMatchObject({ ranOut: 'expireAfter', limitMs: 3_600_000 });
  });

  it('is not retried by noRetry', async () => {
    const { timeline, steps, end } = await once(
      { maxAttempts: 5 },
      { rules: [{ errors: ['ValueError'], policy: 'noRetry' }] },
    );
    expect(timeline[0]).toBe('0s score 1 exhausted');
    expect(steps[0]?.decision).toMatchObject({ by: { policy: 'noRetry', rule: 0, isBuiltIn: true } });
    expect(end).toMatchObject({ reason: 'NonRetryableFailure' });
  });

  it('follows onExhausted, and succeeds there', async () => {
    const { timeline, end } = await once({ onExhausted: ['recover', 'review'] }, { next: ['store'] });
    expect(timeline).toEqual([
      '0s score 1 exhausted',
      '0s recover 1 passes',
      '0s review 1 passes',
      '0s x-sink kept',
    ]);
    expect(end).toMatchObject({ phase: 'succeeded', actor: 'review' });
  });

  it('is escalated to a topic, and recorded', async () => {
    const { timeline, end, requests } = await once({ onExhausted: { action: 'escalate', topic: 'errors' } });
    expect(timeline).toEqual(['0s score 1 exhausted', '0s x-sink kept', '0s x-sump entered']);
    expect(end).toMatchObject({ reason: 'Escalated', went: ['errors', 'x-sink', 'x-sump'] });
    expect(requests).toEqual({ sends: 4, receives: 3, deletes: 3 });
  });

  it('is dropped, and only recorded at x-sink', async () => {
    const { end, requests } = await once({ onExhausted: { action: 'drop' } });
    expect(end).toMatchObject({ reason: 'Dropped', went: ['x-sink'] });
    expect(requests).toEqual({ sends: 2, receives: 2, deletes: 2 });
  });

  it('follows its _on_error header', async () => {
    const { steps, end } = await once({ maxAttempts: 5 }, { headers: { _on_error: 'review' } });
    expect(steps[0]?.decision).toEqual({ kind: 'routed', to: 'review' });
    expect(end).toMatchObject({ phase: 'succeeded', actor: 'review' });
  });

  it('is not acknowledged if a target queue is missing', async () => {
    const { end, requests } = await once({}, { headers: { _on_error: 'missing' } });
    expect(end).toEqual({ kind: 'released', atMs: 0, problem: 'queue "missing" does not exist' });
    expect(requests).toEqual({ sends: 1, receives: 1, deletes: 0 });
  });

  it('is refused if it is too large', async () => {
    const { end, steps } = await simulated({ payload: 'x'.repeat(1024 * 1024) });
    expect(steps).toEqual([]);
    expect(end).toMatchObject({ kind: 'released', problem: expect.stringContaining('1048576') });
  });

  it('is not acknowledged if it grows too large', async () => {
    const { steps, end } = await simulated({ payload: 'x'.repeat(1024 * 1024 - 160) });
    expect(steps).toHaveLength(1);
    expect(end).toMatchObject({ kind: 'released', problem: expect.stringContaining('1048576') });
  });

  it('ends as endless after the maximum number of deliveries', async () => {
    const policy = { maxAttempts: 'unlimited', maxDuration: '1h' };
    const { end, steps } = await once(policy, { maxDeliveries: 50 });
    expect(end).toEqual({ kind: 'endless', atMs: 0, deliveries: 50 });
    expect(steps).toHaveLength(50);
  });

  it('returns to its rescue actor until the hop budget is used up', async () => {
    const { steps, end } = await once({ onExhausted: ['score'] }, { actor: { maxHops: 2 } });
    expect(steps.map(({ decision }) => decision.kind)).toEqual([
      'exhausted',
      'exhausted',
      'failed',
      'kept',
      'entered',
    ]);
    expect(steps[2]?.decision).toMatchObject({ problem: expect.stringContaining('ASYA_MAX_HOPS allows 2') });
    expect(end).toMatchObject({ reason: 'RuntimeError', errorType: 'HopBudgetExceeded' });
  });
});

describe('a simulated timeout', () => {
  const hangs = { score: [failing(TIMEOUT, 1)] };

  it('is not retried by the default policy', async () => {
    const { steps, end, timeline } = await once(
      { maxAttempts: 5 },
      { fail: hangs, actor: { timeoutMs: 30_000 } },
    );
    expect(timeline.slice(0, 2)).toEqual(['0s score 1 uncovered', '30s x-sink kept']);
    expect(steps[0]?.call).toMatchObject({ outcome: 'timeout', tookMs: 30_000, timeoutMs: 30_000 });
    expect(end).toMatchObject({ reason: 'ActorTimeout', atMs: 30_000 });
  });

  it('is retried if a rule matches it', async () => {
    const { timeline, steps } = await simulated({
      policies: { again: { maxAttempts: 2, initialDelay: '5s' } },
      rules: [{ errors: ['TimeoutError'], policy: 'again' }],
      fail: hangs,
    });
    expect(timeline).toEqual(['0s score 1 retries', '305s score 2 passes', '305s x-sink kept']);
    expect(steps[0]?.decision).toMatchObject({ by: { rule: 0, pattern: 'TimeoutError' } });
  });

  it('happens if a call takes longer than its timeout', async () => {
    const { steps } = await simulated({ takesMs: { score: 300_001 } });
    expect(steps[0]?.call).toMatchObject({ outcome: 'timeout', tookMs: 300_000 });
    expect((await simulated({ takesMs: { score: 300_000 } })).end).toMatchObject({ phase: 'succeeded' });
  });
});

describe('a simulated deadline', () => {
  it('ends a call', async () => {
    const { steps, end, deadline } = await simulated({ timeoutMs: 8_000, takesMs: { score: 9_000 } });
    expect(steps[0]?.decision).toEqual({ kind: 'cut-off' });
    expect(steps[0]?.call).toMatchObject({ outcome: 'timeout', tookMs: 8_000 });
    expect(end).toMatchObject({ reason: 'Timeout', errorType: 'DeadlineExceeded', atMs: 8_000 });
    expect(deadline).toEqual({ verdict: 'missed', deadlineMs: 8_000, how: 'cut-off' });
  });

  it('counts as passed with less than a second left on arrival', async () => {
    const { steps, deadline } = await simulated({
      next: ['store'],
      timeoutMs: 8_000,
      takesMs: { score: 7_500 },
    });
    expect(steps[1]).toMatchObject({ actor: 'store', decision: { kind: 'expired', leftMs: 500 } });
    expect(steps[1]).not.toHaveProperty('call');
    expect(deadline).toMatchObject({ verdict: 'missed', how: 'expired' });
  });

  it('prevents a retry that would arrive too late', async () => {
    const staging = { timeoutMs: 10_000, takesMs: { score: 500 } };
    const { timeline, steps, deadline, end } = await once({ maxAttempts: 9, initialDelay: '3s' }, staging);
    expect(timeline.slice(0, 2)).toEqual(['0s score 1 retries', '3.5s score 2 retries-too-late']);
    expect(steps[1]?.decision).toMatchObject({ delayMs: 6_000, leftMs: 0 });
    expect(deadline).toMatchObject({ verdict: 'missed', how: 'retries-too-late' });
    expect(end).toMatchObject({ reason: 'Timeout', errorType: 'ValueError', atMs: 4_000 });
  });

  it('accounts for the whole seconds of SQS', async () => {
    const { timeline } = await once({ maxAttempts: 2, initialDelay: '8200ms' }, { timeoutMs: 9_500 });
    expect(timeline.slice(0, 2)).toEqual(['0s score 1 retries', '9s score 2 expired']);
  });
});

it('simulates different errors in a row', async () => {
  const { steps } = await once(
    { maxAttempts: 9 },
    { fail: { score: [failing('A', 2), failing(faultEnd({ type: 'B' }), 1)] } },
  );
  expect(steps.map(({ call }) => call?.fault?.type)).toEqual(['A', 'A', 'B', undefined, undefined]);
});
