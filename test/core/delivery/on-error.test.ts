import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import {
  anEnvelope,
  at,
  faultEnd,
  handle,
  NOW_TEXT,
  type Setting,
  TIMEOUT,
  UNREACHABLE,
  valueEnd,
} from '../a-delivery.ts';

const RECEIVED = anEnvelope({ parent_id: 'p', headers: { _on_error: 'recover', a: 1 }, more: 2 });
const RETRIED: Setting = {
  policies: { default: { maxAttempts: 9, onExhausted: ['elsewhere'] } },
  rules: [{ errors: ['Exception'], policy: 'default' }],
};

const ENDS: readonly (readonly [string, CallResult, string, string])[] = [
  ['an error', faultEnd(), 'pkg.ValueError', 'no'],
  ['a timeout', TIMEOUT, 'ActorTimeout', 'no answer within 300000 ms'],
  ['a lost connection', UNREACHABLE, 'RuntimeConnectionError', 'connection refused'],
];

describe.each(ENDS)('%s with an _on_error header', (_what, end, type, message) => {
  it.each([
    ['without a policy', {}],
    ['with a policy that would retry', RETRIED],
  ])('is routed to that actor %s', (_with, setting) => {
    const { sends, sent, plan } = handle(RECEIVED, end, setting);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'recover', type: 'routed', delayMs: 0 });
    expect(sent).toEqual({
      ...RECEIVED,
      headers: { a: 1 },
      route: { prev: ['fetch', 'score'], curr: 'recover', next: [] },
      status: {
        phase: 'failed',
        reason: 'PolicyRouted',
        actor: 'score',
        attempt: 1,
        created_at: NOW_TEXT,
        updated_at: NOW_TEXT,
        error: expect.objectContaining({ type, message }),
      },
    });
    expect(plan.settle).toBe('ack');
  });

  it('is counted as an error', () => {
    expect(handle(RECEIVED, end).plan.facts).toContainEqual({ fact: 'result', result: 'error' });
  });
});

describe('the _on_error header', () => {
  it('is ignored if the deadline determined the timeout', () => {
    const received = { ...RECEIVED, status: { deadline_at: at(5_000) } };
    const { sends, sent } = handle(received, TIMEOUT);
    expect(sends[0]?.to).toBe('x-sink');
    expect(sent.status?.reason).toBe('Timeout');
    expect(sent.headers).toEqual({ _on_error: 'recover', a: 1 });
  });

  it('is kept after a success', () => {
    const { sends, sent } = handle(RECEIVED, valueEnd(1));
    expect(sends[0]?.to).toBe('store');
    expect(sent.headers).toEqual({ _on_error: 'recover', a: 1 });
  });

  it('is ignored if the deadline has passed on arrival', () => {
    const { sends } = handle({ ...RECEIVED, status: { deadline_at: at(-1) } }, valueEnd(1));
    expect(sends[0]?.to).toBe('x-sink');
  });
});
