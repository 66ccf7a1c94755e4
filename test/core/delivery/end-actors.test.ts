import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { planAfterRefusal } from '../../../lib/core/delivery/plan.ts';
import {
  anEnvelope,
  at,
  factLabelsOf,
  faultEnd,
  handle,
  type Setting,
  TIMEOUT,
  UNREACHABLE,
  valueEnd,
} from '../a-delivery.ts';

const END: Setting = { actor: { name: 'x-sink', isEnd: true } };

describe('an end actor accepts', () => {
  it.each([
    ['another route', { route: { prev: [], curr: 'other', next: [] } }],
    ['a route that has ended', { route: { prev: ['score'], curr: '', next: [] } }],
    [
      'more hops than allowed',
      { route: { prev: Array.from({ length: 500 }, () => 'a'), curr: '', next: [] } },
    ],
    ['a deadline that has passed', { status: { deadline_at: at(-9_000) } }],
    ['a canceled envelope', { status: { phase: 'canceled' } }],
    ['a failed envelope', { status: { phase: 'failed', reason: 'Timeout' } }],
  ])('%s', (_what, envelope) => {
    const { called, timeoutMs } = handle(anEnvelope(envelope), valueEnd(1), END);
    expect(called).toBe(true);
    expect(timeoutMs).toBe(300_000);
  });

  it('and leaves the status unchanged', () => {
    const status = {
      phase: 'failed',
      reason: 'Timeout',
      actor: 'score',
      attempt: 3,
      error: { type: 'A' },
      more: 1,
    };
    const { admission } = handle(anEnvelope({ status }), valueEnd(1), END);
    expect(admission.kind === 'end-call' && admission.envelope.status).toEqual(status);
    const bare = handle(anEnvelope(), valueEnd(1), END).admission;
    expect(bare.kind === 'end-call' && bare.envelope).not.toHaveProperty('status');
  });
});

describe('an end actor defers', () => {
  it('an envelope that is not due', () => {
    const { called, sends } = handle(
      anEnvelope({ headers: { 'x-asya-not-before': at(5_000) } }),
      valueEnd(1),
      END,
    );
    expect(called).toBe(false);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'again', delayMs: 5_000 });
  });

  it('and removes the header once it is due', () => {
    const { admission } = handle(
      anEnvelope({ headers: { 'x-asya-not-before': at(0), a: 1 } }),
      valueEnd(1),
      END,
    );
    expect(admission.kind === 'end-call' && [...admission.envelope.headers.keys()]).toEqual(['a']);
  });

  it('an envelope if the host has no time left', () => {
    const received = anEnvelope({ headers: { 'x-asya-not-before': at(0) } });
    const { called, sends, sent } = handle(received, valueEnd(1), { ...END, hostTimeLeftMs: 299_999 });
    expect(called).toBe(false);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'again', delayMs: 0 });
    expect(sent).toEqual(received);
  });
});

describe('an end actor discards the answer and acknowledges', () => {
  it.each([
    ['a value', valueEnd({ a: 1 })],
    ['several values', valueEnd(1, 2, 3)],
    ['an empty answer', { kind: 'empty' }],
  ] as readonly (readonly [string, CallResult])[])('%s', (_what, end) => {
    const { plan } = handle(anEnvelope(), end, END);
    expect(plan).toEqual({
      dispatches: [],
      settle: 'ack',
      facts: [{ fact: 'result', result: 'end_consumed' }],
    });
  });
});

describe('an end actor does not acknowledge', () => {
  it.each([
    ['an error', faultEnd(), 'execution'],
    ['a timeout', TIMEOUT, 'timeout'],
    ['a lost connection', UNREACHABLE, 'connection'],
  ] as readonly (readonly [string, CallResult, string])[])('%s, with any policy', (_what, end, errorType) => {
    const setting: Setting = { ...END, policies: { default: { maxAttempts: 9 } } };
    const { plan } = handle(anEnvelope({ headers: { _on_error: 'recover' } }), end, setting);
    expect(plan.settle).toBe('release');
    expect(plan.dispatches).toEqual([]);
    expect(factLabelsOf(plan)).toEqual({ result: ['error'], failed: [], errorType: [errorType] });
  });

  it.each([
    ['nonsense', 'parse_error'],
    ['{"id":"e"}', 'validation_error'],
  ])('an unreadable message: %s', (body, reason) => {
    const { called, plan } = handle(body, valueEnd(1), END);
    expect(called).toBe(false);
    expect(plan).toEqual({ dispatches: [], settle: 'release', facts: [{ fact: 'failed', reason }] });
  });

  it('but resends the envelope after a call that was interrupted by another', () => {
    const received = anEnvelope({ headers: { 'x-asya-not-before': at(-1) } });
    const { sends, sent, plan } = handle(received, { kind: 'interrupted' }, END);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'again', delayMs: 0 });
    expect(sent).toEqual(received);
    expect(plan.settle).toBe('ack');
    expect(planAfterRefusal(plan).settle).toBe('release');
  });
});
