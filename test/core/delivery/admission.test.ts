import { describe, expect, it } from 'vitest';
import { anEnvelope, at, handle, NOW, NOW_TEXT, type Setting, valueEnd } from '../a-delivery.ts';

const BAD_ROUTE = { prev: Array.from({ length: 100 }, () => 'a'), curr: 'other', next: [] };
const LONG_ROUTE = { prev: Array.from({ length: 100 }, () => 'a'), curr: 'score', next: ['store'] };

function handled(envelope: object, setting: Setting = {}) {
  return handle({ ...anEnvelope(envelope as Record<string, unknown>) }, valueEnd('done'), setting);
}

describe('what is well is called', () => {
  it('with the time of the actor', () => {
    const { called, timeoutMs } = handled({});
    expect(called).toBe(true);
    expect(timeoutMs).toBe(300_000);
  });
});

describe('1: another actor is meant', () => {
  it('goes to x-sink as a RouteMismatch', () => {
    const { called, sends, sent, plan } = handled({ route: { prev: [], curr: 'other', next: ['store'] } });
    expect(called).toBe(false);
    expect(sends).toHaveLength(1);
    expect(sends[0]?.to).toBe('x-sink');
    expect(sent.route).toEqual({ prev: [], curr: 'other', next: ['store'] });
    expect(sent.payload).toEqual({ n: 1 });
    expect(sent.status).toEqual({
      phase: 'failed',
      reason: 'RouteMismatch',
      actor: 'score',
      attempt: 1,
      created_at: NOW_TEXT,
      updated_at: NOW_TEXT,
      error: {
        type: 'RouteMismatch',
        mro: [],
        message: 'route.curr is "other"; this actor is "score"',
        traceback: '',
      },
    });
    expect(plan.settle).toBe('ack');
  });

  it('also where nobody is meant any more', () => {
    expect(handled({ route: { prev: ['score'], curr: '', next: [] } }).sent.status?.reason).toBe(
      'RouteMismatch',
    );
  });

  it('also where the name is longer by a letter', () => {
    expect(handled({ route: { prev: [], curr: 'scores', next: [] } }).sent.status?.reason).toBe(
      'RouteMismatch',
    );
  });
});

describe('2: it is not due yet', () => {
  const headers = { 'x-asya-not-before': at(60_000), a: 1 };

  it('goes back to the own queue for the remaining time, status untouched', () => {
    const status = { phase: 'retrying', actor: 'score', attempt: 2, created_at: at(-9) };
    const { called, sends, sent, plan } = handled({ headers, status });
    expect(called).toBe(false);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'score', type: 'again', delayMs: 60_000 });
    expect(sent.headers).toEqual(headers);
    expect(sent.status).toEqual(status);
    expect(plan.settle).toBe('ack');
  });

  it('without a status gets none', () => {
    expect(handled({ headers }).sent).not.toHaveProperty('status');
  });

  it('but for a deadline that moves', () => {
    const { sent } = handled({ headers: { ...headers, deadline_at: at(90_000) } });
    expect(sent.headers).toEqual(headers);
    expect(sent.status).toEqual({ deadline_at: at(90_000) });
  });

  it.each([
    [1, false],
    [0, true],
    [-1, true],
  ])('%d ms ahead: called is %s', (aheadMs, called) => {
    expect(handled({ headers: { 'x-asya-not-before': at(aheadMs) } }).called).toBe(called);
  });

  it('once due, the header is removed, and no other', () => {
    const { admission, sent } = handled({ headers: { 'x-asya-not-before': at(0), a: 1 } });
    expect(admission.kind === 'call' && [...admission.envelope.headers.keys()]).toEqual(['a']);
    expect(sent.headers).toEqual({ a: 1 });
  });
});

describe('3: it has passed too many actors', () => {
  it('goes to x-sink as HopBudgetExceeded', () => {
    const { called, sends, sent } = handled({ route: LONG_ROUTE });
    expect(called).toBe(false);
    expect(sends[0]?.to).toBe('x-sink');
    expect(sent.status).toMatchObject({ phase: 'failed', reason: 'RuntimeError', attempt: 1 });
    expect(sent.status?.error).toEqual({
      type: 'HopBudgetExceeded',
      mro: [],
      message: 'the envelope has passed 100 actors; ASYA_MAX_HOPS allows 100',
      traceback: '',
    });
    expect(sent.route).toEqual(LONG_ROUTE);
  });

  it.each([
    [0, 1, true],
    [1, 1, false],
    [1, 2, true],
    [2, 2, false],
    [3, 2, false],
  ])('%d passed of %d: called is %s', (passed, maxHops, called) => {
    const route = { prev: Array.from({ length: passed }, () => 'a'), curr: 'score', next: [] };
    expect(handled({ route }, { actor: { maxHops } }).called).toBe(called);
  });
});

describe('4: its deadline has passed', () => {
  it('goes to x-sink as Timeout, without a call', () => {
    const { called, sends, sent, plan } = handled({ status: { deadline_at: at(-1) } });
    expect(called).toBe(false);
    expect(sends[0]?.to).toBe('x-sink');
    expect(sent.status).toMatchObject({ phase: 'failed', reason: 'Timeout', deadline_at: at(-1) });
    expect(sent.status?.error).toEqual({
      type: 'DeadlineExceeded',
      mro: [],
      message: `the deadline was ${at(-1)}; it is now ${NOW_TEXT}`,
      traceback: '',
    });
    expect(plan.settle).toBe('ack');
  });

  it.each([
    [-1, false],
    [0, false],
    [999, false],
    [1_000, true],
    [1_001, true],
  ])('%d ms left: called is %s', (leftMs, called) => {
    expect(handled({ status: { deadline_at: at(leftMs) } }).called).toBe(called);
    expect(handled({ headers: { deadline_at: at(leftMs) } }).called).toBe(called);
  });
});

describe('5: the effective timeout', () => {
  it.each([
    ['the actor is stricter', 10_000, 60_000, 10_000, 'actor'],
    ['the deadline is stricter', 60_000, 10_000, 10_000, 'deadline'],
    ['both are alike', 10_000, 10_000, 10_000, 'actor'],
    ['the deadline is a little stricter', 10_000, 9_999, 9_999, 'deadline'],
  ])('%s', (_what, actorMs, leftMs, timeoutMs, boundBy) => {
    const { admission } = handled({ status: { deadline_at: at(leftMs) } }, { actor: { timeoutMs: actorMs } });
    expect(admission).toMatchObject({ kind: 'call', timeoutMs, boundBy });
  });

  it('without a deadline is the actor', () => {
    expect(handled({}, { actor: { timeoutMs: 7 } }).admission).toMatchObject({
      timeoutMs: 7,
      boundBy: 'actor',
    });
  });
});

describe('6: the host has too little time', () => {
  it('sends it back unchanged, at once, and acks', () => {
    const came = anEnvelope({
      headers: { 'x-asya-not-before': at(-5), a: 1 },
      status: { phase: 'retrying', attempt: 2 },
    });
    const { called, sends, sent, plan } = handle(came, valueEnd(1), { hostTimeLeftMs: 299_999 });
    expect(called).toBe(false);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'score', type: 'again', delayMs: 0 });
    expect(sent).toEqual(came);
    expect(plan.settle).toBe('ack');
  });

  it.each([
    ['time enough', 300_000, {}, true],
    ['a little too little', 299_999, {}, false],
    [
      'too little for the actor but not for what the deadline leaves',
      20_000,
      { deadline_at: at(10_000) },
      true,
    ],
    ['too little for what the deadline leaves', 9_999, { deadline_at: at(10_000) }, false],
  ])('%s', (_what, hostTimeLeftMs, status, called) => {
    expect(handled({ status }, { hostTimeLeftMs }).called).toBe(called);
  });
});

describe('a canceled envelope', () => {
  it('goes to x-sink as it is', () => {
    const came = anEnvelope({
      headers: { a: 1 },
      status: { phase: 'canceled', actor: 'fetch', attempt: 3, error: 1 },
    });
    const { called, sends, sent, plan } = handle(came, valueEnd(1));
    expect(called).toBe(false);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent).toEqual(came);
    expect(plan.settle).toBe('ack');
  });
});

describe('the order', () => {
  const ahead = { 'x-asya-not-before': at(60_000) };
  const past = { deadline_at: at(-1) };
  it.each([
    ['mismatch before the rest', { route: BAD_ROUTE, headers: ahead, status: past }, 'route-mismatch'],
    ['not due before hops and deadline', { route: LONG_ROUTE, headers: ahead, status: past }, 'not-due'],
    ['hops before the deadline', { route: LONG_ROUTE, status: past }, 'hop-budget-exceeded'],
    ['the deadline before the host', { status: past }, 'expired'],
    ['the host last', {}, 'host-out-of-time'],
    [
      'canceled before all',
      { route: BAD_ROUTE, headers: ahead, status: { ...past, phase: 'canceled' } },
      'canceled',
    ],
  ])('%s', (_what, envelope, kind) => {
    expect(handled(envelope, { hostTimeLeftMs: 0 }).admission.kind).toBe(kind);
  });
});

describe('the clock', () => {
  it('on arrival admits, and after the call decides', () => {
    const { admission, sent } = handle(anEnvelope(), valueEnd(1), { now: NOW, later: NOW + 5_000 });
    expect(admission.kind === 'call' && admission.envelope.status).toMatchObject({
      created_at: NOW_TEXT,
      updated_at: NOW_TEXT,
    });
    expect(sent.status).toMatchObject({ created_at: NOW_TEXT, updated_at: at(5_000) });
  });
});
