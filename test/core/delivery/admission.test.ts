import { describe, expect, it } from 'vitest';
import { anEnvelope, at, handle, NOW, NOW_TEXT, type Setting, valueEnd } from '../a-delivery.ts';

const BAD_ROUTE = { prev: Array.from({ length: 100 }, () => 'a'), curr: 'other', next: [] };
const LONG_ROUTE = { prev: Array.from({ length: 100 }, () => 'a'), curr: 'score', next: ['store'] };

function handled(envelope: object, setting: Setting = {}) {
  return handle({ ...anEnvelope(envelope as Record<string, unknown>) }, valueEnd('done'), setting);
}

describe('a valid envelope', () => {
  it("is called with the actor's timeout", () => {
    const { called, timeoutMs } = handled({});
    expect(called).toBe(true);
    expect(timeoutMs).toBe(300_000);
  });
});

describe('step 1: route.curr is another actor', () => {
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

  it('also if route.curr is empty', () => {
    expect(handled({ route: { prev: ['score'], curr: '', next: [] } }).sent.status?.reason).toBe(
      'RouteMismatch',
    );
  });

  it('also if the name has one more letter', () => {
    expect(handled({ route: { prev: [], curr: 'scores', next: [] } }).sent.status?.reason).toBe(
      'RouteMismatch',
    );
  });
});

describe('step 2: not due yet', () => {
  const headers = { 'x-asya-not-before': at(60_000), a: 1 };

  it('is resent to its own queue with the remaining delay and an unchanged status', () => {
    const status = { phase: 'retrying', actor: 'score', attempt: 2, created_at: at(-9) };
    const { called, sends, sent, plan } = handled({ headers, status });
    expect(called).toBe(false);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'score', type: 'again', delayMs: 60_000 });
    expect(sent.headers).toEqual(headers);
    expect(sent.status).toEqual(status);
    expect(plan.settle).toBe('ack');
  });

  it('adds no status to an envelope without one', () => {
    expect(handled({ headers }).sent).not.toHaveProperty('status');
  });

  it('moves a deadline header to the status', () => {
    const { sent } = handled({ headers: { ...headers, deadline_at: at(90_000) } });
    expect(sent.headers).toEqual(headers);
    expect(sent.status).toEqual({ deadline_at: at(90_000) });
  });

  it.each([
    [1, false],
    [0, true],
    [-1, true],
  ])('due in %d ms: called is %s', (aheadMs, called) => {
    expect(handled({ headers: { 'x-asya-not-before': at(aheadMs) } }).called).toBe(called);
  });

  it('removes only this header once the envelope is due', () => {
    const { admission, sent } = handled({ headers: { 'x-asya-not-before': at(0), a: 1 } });
    expect(admission.kind === 'call' && [...admission.envelope.headers.keys()]).toEqual(['a']);
    expect(sent.headers).toEqual({ a: 1 });
  });
});

describe('step 3: hop budget exceeded', () => {
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
  ])('%d of %d hops: called is %s', (passed, maxHops, called) => {
    const route = { prev: Array.from({ length: passed }, () => 'a'), curr: 'score', next: [] };
    expect(handled({ route }, { actor: { maxHops } }).called).toBe(called);
  });
});

describe('step 4: deadline passed', () => {
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

describe('step 5: effective timeout', () => {
  it.each([
    ["the actor's timeout is shorter", 10_000, 60_000, 10_000, 'actor'],
    ['the deadline is sooner', 60_000, 10_000, 10_000, 'deadline'],
    ['both are equal', 10_000, 10_000, 10_000, 'actor'],
    ['the deadline is slightly sooner', 10_000, 9_999, 9_999, 'deadline'],
  ])('%s', (_what, actorMs, leftMs, timeoutMs, boundBy) => {
    const { admission } = handled({ status: { deadline_at: at(leftMs) } }, { actor: { timeoutMs: actorMs } });
    expect(admission).toMatchObject({ kind: 'call', timeoutMs, boundBy });
  });

  it("is the actor's timeout without a deadline", () => {
    expect(handled({}, { actor: { timeoutMs: 7 } }).admission).toMatchObject({
      timeoutMs: 7,
      boundBy: 'actor',
    });
  });
});

describe('step 6: not enough time left on the host', () => {
  it('resends the envelope unchanged without delay, and acknowledges', () => {
    const received = anEnvelope({
      headers: { 'x-asya-not-before': at(-5), a: 1 },
      status: { phase: 'retrying', attempt: 2 },
    });
    const { called, sends, sent, plan } = handle(received, valueEnd(1), { hostTimeLeftMs: 299_999 });
    expect(called).toBe(false);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'score', type: 'again', delayMs: 0 });
    expect(sent).toEqual(received);
    expect(plan.settle).toBe('ack');
  });

  it.each([
    ['enough time', 300_000, {}, true],
    ['slightly too little time', 299_999, {}, false],
    [
      "too little for the actor's timeout, but enough until the deadline",
      20_000,
      { deadline_at: at(10_000) },
      true,
    ],
    ['too little until the deadline', 9_999, { deadline_at: at(10_000) }, false],
  ])('%s', (_what, hostTimeLeftMs, status, called) => {
    expect(handled({ status }, { hostTimeLeftMs }).called).toBe(called);
  });
});

describe('a canceled envelope', () => {
  it('goes to x-sink unchanged', () => {
    const received = anEnvelope({
      headers: { a: 1 },
      status: { phase: 'canceled', actor: 'fetch', attempt: 3, error: 1 },
    });
    const { called, sends, sent, plan } = handle(received, valueEnd(1));
    expect(called).toBe(false);
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent).toEqual(received);
    expect(plan.settle).toBe('ack');
  });
});

describe('the order of the checks', () => {
  const ahead = { 'x-asya-not-before': at(60_000) };
  const past = { deadline_at: at(-1) };
  it.each([
    [
      'route mismatch before the later checks',
      { route: BAD_ROUTE, headers: ahead, status: past },
      'route-mismatch',
    ],
    [
      'not due before hop budget and deadline',
      { route: LONG_ROUTE, headers: ahead, status: past },
      'not-due',
    ],
    ['hop budget before the deadline', { route: LONG_ROUTE, status: past }, 'hop-budget-exceeded'],
    ["the deadline before the host's time", { status: past }, 'expired'],
    ["the host's time last", {}, 'host-out-of-time'],
    [
      'canceled first',
      { route: BAD_ROUTE, headers: ahead, status: { ...past, phase: 'canceled' } },
      'canceled',
    ],
  ])('%s', (_what, envelope, kind) => {
    expect(handled(envelope, { hostTimeLeftMs: 0 }).admission.kind).toBe(kind);
  });
});

describe('the clock', () => {
  it('admits with the time on arrival and decides with the time after the call', () => {
    const { admission, sent } = handle(anEnvelope(), valueEnd(1), { now: NOW, later: NOW + 5_000 });
    expect(admission.kind === 'call' && admission.envelope.status).toMatchObject({
      created_at: NOW_TEXT,
      updated_at: NOW_TEXT,
    });
    expect(sent.status).toMatchObject({ created_at: NOW_TEXT, updated_at: at(5_000) });
  });
});
