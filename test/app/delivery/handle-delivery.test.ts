import { describe, expect, it } from 'vitest';
import type { Dispatch } from '../../../lib/core/delivery/plan.ts';
import { ACCEPTED, type Reply } from '../../../lib/ports/reply.ts';
import { anEnvelope, faultEnd, NOW } from '../../core/a-delivery.ts';
import { type Handling, handling, socketAnswer } from '../a-handling.ts';
import { virtualClock } from '../virtual-clock.ts';

const REFUSED: Reply = { ok: false, problem: 'refused by the broker' };
const RETRY = { default: { maxAttempts: 3, initialDelay: '2s' } };

function refusing(...to: readonly string[]): (dispatch: Dispatch) => Promise<Reply> {
  return async (dispatch) => (to.includes(dispatch.to) ? REFUSED : ACCEPTED);
}

describe('a delivery that arrives while the runtime loads', () => {
  const DEADLINE = { status: { deadline_at: '2026-01-01T00:05:00Z' } };

  /** The delivery, in virtual time. */
  async function whileLoading(startsForMs: number, given: Handling = {}) {
    const clock = virtualClock(Date.UTC(2026, 0, 1));
    const end = await clock.passUntilSettled(handling({ clock, startsForMs, ...given }));
    return { end, clock };
  }

  it('waits without spending the timeout of its call, or an attempt', async () => {
    const { end, clock } = await whileLoading(240_000, { actor: { timeoutMs: 10_000 } });
    expect(end.calls).toEqual([{ payload: '{"n":1}', timeoutMs: 10_000 }]);
    expect(end.sends).toMatchObject([{ to: 'store', envelope: { status: { phase: 'pending' } } }]);
    expect(end.report).toMatchObject({ attempt: 1, runtimeMs: 0, processingMs: 240_000 });
    expect(clock.sleepers).toBe(0);
  });

  it('has the rest of its deadline as timeout', async () => {
    const { end } = await whileLoading(240_000, {
      body: anEnvelope(DEADLINE),
      actor: { timeoutMs: 300_000 },
    });
    expect(end.calls).toMatchObject([{ timeoutMs: 60_000 }]);
  });

  it('expires with its deadline, and the runtime is not called', async () => {
    const { end } = await whileLoading(600_000, { body: anEnvelope(DEADLINE), actor: { timeoutMs: 10_000 } });
    expect(end.calls).toEqual([]);
    expect(end.sends).toMatchObject([
      { to: 'x-sink', envelope: { status: { phase: 'failed', reason: 'Timeout' } } },
    ]);
  });

  it('is resent unchanged once the host has no time left for its call', async () => {
    const { end, clock } = await whileLoading(600_000, { actor: { timeoutMs: 10_000 }, timeLeftMs: 40_000 });
    expect(end.calls).toEqual([]);
    expect(end.settle).toBe('ack');
    expect(end.sends).toMatchObject([{ to: 'score', type: 'again', envelope: anEnvelope() }]);
    expect(end.report.processingMs).toBe(30_001);
    expect(clock.sleepers).toBe(0);
  });

  it('is resent unchanged if the wait is interrupted, because the host is about to end', async () => {
    const { end, clock } = await whileLoading(5_000, { startEndsAs: 'interrupted' });
    expect(end.calls).toEqual([]);
    expect(end.settle).toBe('ack');
    expect(end.sends).toMatchObject([{ to: 'score', type: 'again', envelope: anEnvelope() }]);
    expect(clock.sleepers).toBe(0);
  });
});

describe('a refused send', () => {
  it('prevents the ack, and is reported as a transport error', async () => {
    const { settle, facts, report, telemetry } = await handling({ send: refusing('store') });
    expect({ settle, facts }).toEqual({ settle: 'release', facts: ['transport_error'] });
    expect(report.problem).toBe('refused by the broker');
    expect(telemetry.warnings).toEqual(['a send was refused']);
  });

  it('prevents the ack, also for x-sink', async () => {
    const { settle, sends } = await handling({ end: socketAnswer('null'), send: refusing('x-sink') });
    expect(settle).toBe('release');
    expect(sends.map(({ to }) => to)).toEqual(['x-sink']);
  });

  it('of one fan-out item prevents the ack', async () => {
    let nth = 0;
    const { settle, sends, facts } = await handling({
      end: socketAnswer('[1,2,3]'),
      send: async () => (++nth === 2 ? REFUSED : ACCEPTED),
    });
    expect(sends).toHaveLength(3);
    expect({ settle, facts }).toEqual({ settle: 'release', facts: ['transport_error'] });
  });

  it('of a retry sends to x-sink instead, and then acknowledges', async () => {
    const { settle, sends, facts } = await handling({
      end: faultEnd(),
      policies: RETRY,
      send: refusing('score'),
    });
    expect(sends).toMatchObject([
      { to: 'score', delayMs: 2_000 },
      { to: 'x-sink', delayMs: 0, envelope: { status: { phase: 'failed', reason: 'RuntimeError' } } },
    ]);
    expect({ settle, facts }).toEqual({ settle: 'ack', facts: ['error', 'execution', 'retry_send_failed'] });
  });

  it('of a retry and of its fallback prevents the ack', async () => {
    const { settle, sends, facts } = await handling({
      end: faultEnd(),
      policies: RETRY,
      send: refusing('score', 'x-sink'),
    });
    expect(sends.map(({ to }) => to)).toEqual(['score', 'x-sink']);
    expect({ settle, facts }).toEqual({ settle: 'release', facts: ['transport_error'] });
  });

  it('of an escalation or of its record prevents the ack', async () => {
    const policies = { default: { onExhausted: { action: 'escalate', topic: 'errors' } } };
    for (const refused of ['errors', 'x-sink']) {
      const { settle, sends } = await handling({ end: faultEnd(), policies, send: refusing(refused) });
      expect(sends.map(({ to }) => to)).toEqual(['errors', 'x-sink']);
      expect(settle).toBe('release');
    }
  });
});

describe('the order', () => {
  it('frees the runtime before the sends, and reports the end after they are accepted', async () => {
    const order: string[] = [];
    const { telemetry } = await handling({
      end: socketAnswer('[1,2]'),
      onCallEnded: () => order.push('call ended'),
      send: async () => {
        order.push('send');
        await Promise.resolve();
        order.push('accepted');
        return ACCEPTED;
      },
    });
    expect(order).toEqual(['call ended', 'send', 'send', 'accepted', 'accepted']);
    expect(telemetry.steps).toEqual(['call', 'called', 'sent', 'sent']);
  });

  it('a slow send of a fan-out does not delay the others', async () => {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const started: number[] = [];
    const ending = handling({
      end: socketAnswer('[0,1,2]'),
      send: (dispatch) => {
        const { payload } = JSON.parse(dispatch.body) as { payload: number };
        started.push(payload);
        return payload === 0 ? promise : Promise.resolve(ACCEPTED);
      },
    });
    await new Promise((done) => setImmediate(done));
    expect(started).toEqual([0, 1, 2]);
    resolve(ACCEPTED);
    expect((await ending).settle).toBe('ack');
  });

  it.each([
    ['a call', anEnvelope()],
    ['no call', 'not JSON'],
  ])('releases the slot exactly once after %s', async (_what, body) => {
    let times = 0;
    await handling({ body, onCallEnded: () => times++ });
    expect(times).toBe(1);
  });

  it('throws a bug', async () => {
    await expect(handling({ end: Promise.reject(new Error('a bug')) })).rejects.toThrow('a bug');
    await expect(handling({ send: () => Promise.reject(new Error('a bug')) })).rejects.toThrow('a bug');
  });
});

describe('the report', () => {
  it('contains ids, attempt, durations and sizes', async () => {
    let now = NOW;
    const { report } = await handling({
      body: anEnvelope({ status: { phase: 'retrying', actor: 'score', attempt: 2 } }),
      // Each reading returns a time 100 ms later: on arrival, after the call, after the sends.
      clock: { now: () => (now += 100), sleep: () => Promise.resolve() },
    });
    expect(report).toMatchObject({
      envelopeId: 'e-1',
      attempt: 3,
      settle: 'ack',
      processingMs: 200,
      runtimeMs: 100,
      sendMs: 100,
    });
  });

  it('has no runtime duration without a call', async () => {
    const { report } = await handling({ body: 'not JSON' });
    expect(report).not.toHaveProperty('runtimeMs');
  });

  it.each([
    ['ASCII', 'abc'],
    ['several bytes per character', 'äöü ελ 日本'],
    ['surrogate pairs', '\u{1f600}'],
  ])('counts bytes, not characters: %s', async (_what, text) => {
    const body = JSON.stringify(anEnvelope({ payload: text }));
    const sentBytes: number[] = [];
    const { report } = await handling({
      body,
      end: socketAnswer(JSON.stringify(text)),
      send: async (dispatch) => {
        sentBytes.push(Buffer.byteLength(dispatch.body));
        return ACCEPTED;
      },
    });
    expect({ received: report.receivedBytes, sent: report.sentBytes }).toEqual({
      received: Buffer.byteLength(body),
      sent: sentBytes,
    });
  });

  it('contains the derived id and the problem of an unreadable body', async () => {
    const { report, sends } = await handling({ body: 'not JSON' });
    expect(report.envelopeId).toBe(sends[0]?.envelope.id);
    expect(report.problem).toMatch(/not JSON/);
  });
});

describe('telemetry never contains the payload', () => {
  const CANARY = 'canary-7f0c';
  const RECEIVED = anEnvelope({ payload: { secret: CANARY } });

  it.each([
    ['a value', socketAnswer(`"${CANARY}"`)],
    ['a fan-out', socketAnswer(`["${CANARY}",{"a":"${CANARY}"}]`)],
    ['no result', socketAnswer('null')],
    ['an error', faultEnd()],
    ['a timeout', { kind: 'timeout' } as const],
    ['an interruption', { kind: 'interrupted' } as const],
    ['no connection', { kind: 'unreachable', detail: 'connection refused' } as const],
    ['an answer that is not JSON', socketAnswer(`{"a":"${CANARY}"`)],
  ])('after %s, accepted or refused', async (_what, end) => {
    for (const send of [refusing(), refusing('store'), refusing('score', 'x-sink', 'store')]) {
      const { telemetry, sends } = await handling({ body: RECEIVED, end, send });
      expect(telemetry.text()).not.toContain(CANARY);
      expect(sends.length).toBeGreaterThan(0);
    }
  });

  const envelopeText = JSON.stringify(RECEIVED);
  it.each([
    ['cut off', envelopeText.slice(0, envelopeText.indexOf(CANARY) + CANARY.length)],
    ['without an id', JSON.stringify({ ...RECEIVED, id: undefined })],
    ['with a wrong route', JSON.stringify({ ...RECEIVED, route: 5 })],
    ['with wrong headers', JSON.stringify({ ...RECEIVED, headers: [] })],
    ['in an array', `[${JSON.stringify({ payload: CANARY })}]`],
    ['text', JSON.stringify(CANARY)],
  ])('of an invalid envelope: %s', async (_what, body) => {
    const { telemetry, sends } = await handling({ body });
    expect(JSON.stringify(sends)).toContain(CANARY);
    expect(telemetry.text()).not.toContain(CANARY);
  });
});
