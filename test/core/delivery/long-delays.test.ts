import { describe, expect, it } from 'vitest';
import { planAfterRefusal } from '../../../lib/core/delivery/plan.ts';
import {
  anEnvelope,
  at,
  faultEnd,
  handle,
  NOW,
  NOW_TEXT,
  type Setting,
  sendsOf,
  valueEnd,
} from '../a-delivery.ts';

/** The limit of SQS. */
const SQS = { maxDelayMs: 900_000 };
const retryIn = (initialDelay: string): Setting => ({
  policies: { default: { maxAttempts: 3, initialDelay } },
  limits: SQS,
});

describe('a delay that fits into one send', () => {
  it.each(['14m59s', '15m'])('%s needs one send and no header', (delay) => {
    const { sends, sent } = handle(anEnvelope(), faultEnd(), retryIn(delay));
    expect(sends[0]?.delayMs).toBe(delay === '15m' ? 900_000 : 899_000);
    expect(sent.headers).toEqual({});
  });
});

describe('a delay that is too long for one send', () => {
  it('adds x-asya-not-before and sends with the longest delay', () => {
    const { sends, sent } = handle(anEnvelope({ headers: { a: 1 } }), faultEnd(), retryIn('1h'));
    expect(sends[0]).toMatchObject({ to: 'score', type: 'retry', delayMs: 900_000 });
    expect(sent.headers).toEqual({ a: 1, 'x-asya-not-before': at(3_600_000) });
    expect(sent.status).toMatchObject({ phase: 'retrying', attempt: 1 });
  });

  it('starts at the time after the call', () => {
    const { sent } = handle(anEnvelope(), faultEnd(), { ...retryIn('1h'), later: NOW + 500 });
    expect(sent.headers).toEqual({ 'x-asya-not-before': at(3_600_500) });
  });

  it('continues in steps without counting an attempt', () => {
    let body = handle(anEnvelope(), faultEnd(), retryIn('40m')).sends[0]?.body ?? '';
    let now = NOW + 900_000;
    const delays: number[] = [];
    for (;;) {
      const { called, sends, admission } = handle(body, valueEnd('done'), { limits: SQS, now });
      if (called) {
        expect(admission.kind === 'call' && admission.envelope.status.attempt).toBe(2);
        expect(sends[0]?.envelope.headers).toEqual({});
        break;
      }
      expect(sends[0]?.body).toBe(body);
      delays.push(sends[0]?.delayMs ?? 0);
      body = sends[0]?.body ?? '';
      now += sends[0]?.delayMs ?? 0;
    }
    expect(delays).toEqual([900_000, 600_000]);
    expect(now).toBe(NOW + 2_400_000);
  });
});

describe('an envelope that is not due', () => {
  const waiting = anEnvelope({
    headers: { 'x-asya-not-before': at(60_000), a: 1 },
    status: { phase: 'retrying', actor: 'score', attempt: 2, created_at: at(-5) },
  });

  it('goes to x-sink as RuntimeError if the resend is refused', () => {
    const fallback = planAfterRefusal(handle(waiting, valueEnd(1)).plan);
    const [send] = sendsOf(fallback);
    expect(send).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(send?.envelope.status).toMatchObject({
      phase: 'failed',
      reason: 'RuntimeError',
      actor: 'score',
      attempt: 3,
      created_at: at(-5),
    });
    expect(send?.envelope.headers).toEqual({ a: 1 });
    expect(send?.envelope.status?.error).toEqual({
      type: 'RuntimeError',
      mro: [],
      message: `the envelope is due at ${at(60_000)}, but it could not be sent with a delay`,
      traceback: '',
    });
    expect(send?.envelope.payload).toEqual({ n: 1 });
    expect(fallback.settle).toBe('ack');
  });

  it('goes to x-sink immediately on a transport without delays', () => {
    const { sends, sent, plan } = handle(waiting, valueEnd(1), { limits: { maxDelayMs: 0 } });
    expect(sends).toHaveLength(1);
    expect(sends[0]?.to).toBe('x-sink');
    expect(sent.status).toMatchObject({ phase: 'failed', reason: 'RuntimeError', updated_at: NOW_TEXT });
    expect(plan).not.toHaveProperty('otherwise');
  });

  it.each([0, 900_000])('is not acknowledged at an end actor (longest delay %d ms)', (maxDelayMs) => {
    const setting: Setting = { actor: { name: 'x-sink', isEnd: true }, limits: { maxDelayMs } };
    const { plan } = handle(waiting, valueEnd(1), setting);
    expect(maxDelayMs === 0 ? plan : planAfterRefusal(plan)).toEqual({
      dispatches: [],
      settle: 'release',
      facts: [{ fact: 'failed', reason: 'retry_send_failed' }],
    });
  });

  it('has the fact deferred, or retry_send_failed', () => {
    const { plan } = handle(waiting, valueEnd(1));
    expect(plan.facts).toEqual([
      { fact: 'result', result: 'deferred' },
      { fact: 'sent', to: 'score', type: 'again' },
    ]);
    expect(planAfterRefusal(plan).facts).toEqual([
      { fact: 'failed', reason: 'retry_send_failed' },
      { fact: 'sent', to: 'x-sink', type: 'sink' },
    ]);
  });
});
