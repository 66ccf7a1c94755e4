import { describe, expect, it } from 'vitest';
import { utf8Bytes } from '../../../lib/core/text/utf8.ts';
import { anEnvelope, faultEnd, handle, type Setting, valueEnd } from '../a-delivery.ts';

const bytesOf = (setting: Setting, end = valueEnd('é'.repeat(100))) =>
  utf8Bytes(handle(anEnvelope(), end, setting).sends[0]?.body ?? '');

describe('an answer over ASYA_RUNTIME_MAX_RESPONSE', () => {
  const end = { kind: 'too-large', detail: "the runtime's answer has 11 bytes; 10 are allowed" } as const;

  it('goes to x-sink as PayloadTooLarge with the original payload, for any policies and headers', () => {
    const catchAll = {
      policies: { default: { maxAttempts: 9 }, all: { maxAttempts: 9, onExhausted: ['review'] } },
      rules: [{ errors: ['PayloadTooLarge', 'RuntimeConnectionError', 'Exception'], policy: 'all' }],
    };
    const envelope = anEnvelope({ headers: { _on_error: 'review' } });
    const { sends, sent, plan } = handle(envelope, end, catchAll);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent.payload).toEqual({ n: 1 });
    expect(sent.status).toMatchObject({
      phase: 'failed',
      reason: 'RuntimeError',
      error: { type: 'PayloadTooLarge', mro: [], message: end.detail, traceback: '' },
    });
    expect(plan.settle).toBe('ack');
    expect(plan.facts).toEqual([
      { fact: 'failed', reason: 'runtime_error' },
      { fact: 'sent', to: 'x-sink', type: 'sink' },
    ]);
  });

  it('of an end actor is discarded', () => {
    const { sends, plan } = handle(anEnvelope(), end, { actor: { isEnd: true } });
    expect(sends).toEqual([]);
    expect(plan).toMatchObject({ settle: 'ack', facts: [{ fact: 'result', result: 'end_consumed' }] });
  });
});

describe('a result that is too large for the transport', () => {
  const end = valueEnd('é'.repeat(100));

  it('is sent if it just fits', () => {
    const bytes = bytesOf({});
    const { sends } = handle(anEnvelope(), end, { limits: { maxBodyBytes: bytes } });
    expect(sends[0]?.to).toBe('store');
  });

  it('goes to x-sink as PayloadTooLarge with the original payload if it is one byte too large', () => {
    const bytes = bytesOf({});
    const { sends, sent, plan } = handle(anEnvelope(), end, { limits: { maxBodyBytes: bytes - 1 } });
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent.payload).toEqual({ n: 1 });
    expect(sent.route).toEqual({ prev: ['fetch'], curr: 'score', next: ['store'] });
    expect(sent.status).toMatchObject({ phase: 'failed', reason: 'RuntimeError' });
    expect(sent.status?.error).toEqual({
      type: 'PayloadTooLarge',
      mro: [],
      message: `the result needs a message of ${bytes} bytes; the transport allows ${bytes - 1}`,
      traceback: '',
    });
    expect(plan.settle).toBe('ack');
    expect(plan.facts).toEqual([
      { fact: 'failed', reason: 'runtime_error' },
      { fact: 'sent', to: 'x-sink', type: 'sink' },
    ]);
  });

  it("is measured with the platform's function if there is one", () => {
    const bytes = bytesOf({});
    const limits = { maxBodyBytes: bytes };
    expect(handle(anEnvelope(), end, { limits, countBytes: () => bytes }).sends[0]?.to).toBe('store');
    expect(handle(anEnvelope(), end, { limits, countBytes: () => bytes + 1 }).sends[0]?.to).toBe('x-sink');
  });

  it('prevents all sends if one of many items is too large', () => {
    const { sends, sent } = handle(anEnvelope(), valueEnd('small', 'x'.repeat(2_000), 'small'), {
      limits: { maxBodyBytes: 1_000 },
    });
    expect(sends).toHaveLength(1);
    expect(sent.status?.error?.type).toBe('PayloadTooLarge');
  });

  it('fails at the end of the route, too', () => {
    const { sent } = handle(
      anEnvelope({ route: { prev: [], curr: 'score', next: [] } }),
      valueEnd('x'.repeat(2_000)),
      {
        limits: { maxBodyBytes: 1_000 },
      },
    );
    expect(sent.status?.error?.type).toBe('PayloadTooLarge');
  });

  it('is not retried', () => {
    const setting: Setting = { policies: { default: { maxAttempts: 9 } }, limits: { maxBodyBytes: 300 } };
    expect(handle(anEnvelope(), valueEnd('x'.repeat(2_000)), setting).sends.map(({ to }) => to)).toEqual([
      'x-sink',
    ]);
  });
});

describe('an error that does not fit next to its payload', () => {
  const end = faultEnd({ message: 'é'.repeat(2_000), traceback: 't'.repeat(4_000), mro: ['Exception'] });
  const whole: Setting = { limits: {} };
  const SHORT = { type: 'pkg.ValueError', mro: [], message: 'é'.repeat(512), traceback: '' };

  it('stays complete if it just fits', () => {
    const { sent } = handle(anEnvelope(), end, { limits: { maxBodyBytes: bytesOf(whole, end) } });
    expect(sent.status?.error).toEqual({
      type: 'pkg.ValueError',
      mro: ['Exception'],
      message: 'é'.repeat(2_000),
      traceback: 't'.repeat(4_000),
    });
  });

  /** The error of the failed envelope if the limit is one byte below the size with the given error. */
  const errorBelow = (error: object) => {
    const kept = faultEnd({ traceback: '', ...error });
    const { sends, sent } = handle(anEnvelope(), end, { limits: { maxBodyBytes: bytesOf(whole, kept) - 1 } });
    expect(sends.map(({ to }) => to)).toEqual(['x-sink']);
    expect(sent.status).toMatchObject({ phase: 'failed', reason: 'RuntimeError', attempt: 1 });
    expect(sent.payload).toEqual({ n: 1 });
    return sent.status?.error;
  };

  it.each([
    [
      'first by the traceback',
      { mro: ['Exception'], message: 'é'.repeat(2_000), traceback: 't'.repeat(4_000) },
      { ...SHORT, mro: ['Exception'], message: 'é'.repeat(2_000) },
    ],
    ['then by mro and the end of the message', { mro: ['Exception'], message: 'é'.repeat(2_000) }, SHORT],
    ['then to the type', { mro: [], message: 'é'.repeat(512) }, { ...SHORT, message: '' }],
    ['and not further', { mro: [], message: '' }, { ...SHORT, message: '' }],
  ])('is shortened: %s', (_what, tooLarge, error) => {
    expect(errorBelow(tooLarge)).toEqual(error);
  });

  it.each([
    ['without the traceback', { mro: ['Exception'], message: 'é'.repeat(2_000), traceback: '' }],
    ['with the beginning of the message', { mro: [], message: 'é'.repeat(512), traceback: '' }],
  ])('is not shortened further if it just fits %s', (_what, error) => {
    const maxBodyBytes = bytesOf(whole, faultEnd(error));
    const { sent } = handle(anEnvelope(), end, { limits: { maxBodyBytes } });
    expect(sent.status?.error).toEqual({ type: 'pkg.ValueError', ...error });
  });

  it("is measured with the platform's function if there is one", () => {
    const counted: string[] = [];
    const limits = { maxBodyBytes: bytesOf(whole, end) };
    const countBytes = (text: string) => limits.maxBodyBytes + (counted.push(text) > 1 ? 0 : 1);
    const { sent } = handle(anEnvelope(), end, { limits, countBytes });
    expect(counted.length).toBeGreaterThan(0);
    expect(sent.status?.error?.traceback).toBe('');
  });

  it('is shortened in a retry', () => {
    const setting: Setting = { policies: { default: { maxAttempts: 3 } }, limits: { maxBodyBytes: 2_000 } };
    const { sends, sent } = handle(anEnvelope(), end, setting);
    expect(sends[0]?.to).toBe('score');
    expect(sent.status).toMatchObject({ phase: 'retrying', attempt: 1, max_attempts: 3, error: SHORT });
  });

  it('is shortened when routed, escalated or dropped', () => {
    for (const onExhausted of [['recover'], { action: 'escalate', topic: 't' }, { action: 'drop' }]) {
      const setting: Setting = { policies: { default: { onExhausted } }, limits: { maxBodyBytes: 2_000 } };
      for (const { envelope } of handle(anEnvelope(), end, setting).sends) {
        expect(envelope.status?.error).toEqual(SHORT);
      }
    }
  });

  it('keeps a short message', () => {
    const brief = faultEnd({ message: 'no', traceback: 't'.repeat(4_000) });
    const { sent } = handle(anEnvelope(), brief, { limits: { maxBodyBytes: 2_000 } });
    expect(sent.status?.error).toEqual({ ...SHORT, mro: ['Exception'], message: 'no' });
  });
});
