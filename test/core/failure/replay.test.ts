import { describe, expect, it } from 'vitest';
import { encode } from '../../../lib/core/envelope/encode.ts';
import { type ReplayOptions, type ReplayResult, replayOf } from '../../../lib/core/failure/replay.ts';
import type { JsonText } from '../../../lib/core/text/json-text.ts';
import { anActor, at, NOW } from '../a-delivery.ts';
import { A_FAILURE, aFailed, aFailedBody, arrivalOf } from '../an-end.ts';

const OPTIONS: ReplayOptions = { replay: 'r-1' };

type Fields = Readonly<Record<string, unknown>>;

function sent(replayed: ReplayResult): { to: string; body: Fields } {
  if ('problem' in replayed) throw new Error(replayed.problem);
  return { to: replayed.to, body: JSON.parse(encode(replayed.envelope)) as Fields };
}

function problemOf(replayed: ReplayResult): string {
  if (!('problem' in replayed)) throw new Error(`sent to ${replayed.to}`);
  return replayed.problem;
}

describe('replayOf', () => {
  it('sends to the actor that failed, with everything except for the failure', () => {
    const headers = { a: 1, 'x-asya-task': 't-1', 'x-asya-not-before': at(5_000) };
    const failed = aFailed({ headers, parent_id: 'p-1', extra: [1] });
    const { status: _failure, ...body } = aFailedBody({ parent_id: 'p-1', extra: [1] });
    expect(sent(replayOf(failed, OPTIONS))).toEqual({
      to: 'score',
      body: { ...body, headers: { a: 1, 'x-asya-task': 't-1', 'x-asya-replay': 'r-1' } },
    });
  });

  it('sets a new deadline, or none', () => {
    const status = { ...A_FAILURE, deadline_at: at(-1) };
    expect(sent(replayOf(aFailed({ status }), OPTIONS)).body).not.toHaveProperty('status');
    const { body } = sent(replayOf(aFailed({ status }), { ...OPTIONS, deadlineMs: NOW + 60_000 }));
    expect(body['status']).toEqual({ deadline_at: at(60_000) });
  });

  it('marks the envelope with the latest replay only', () => {
    const failed = aFailed({ headers: { 'x-asya-replay': 'r-0' } });
    expect(sent(replayOf(failed, OPTIONS)).body['headers']).toEqual({ 'x-asya-replay': 'r-1' });
  });

  it('sends to another actor on request, and sets it in the route', () => {
    expect(sent(replayOf(aFailed(), { ...OPTIONS, to: 'review' }))).toMatchObject({
      to: 'review',
      body: { route: { prev: ['fetch'], curr: 'review', next: ['store'] } },
    });
  });

  it('sets route.curr to the actor that failed', () => {
    const failed = aFailed({ status: { ...A_FAILURE, actor: 'store' } });
    expect(sent(replayOf(failed, OPTIONS))).toMatchObject({
      to: 'store',
      body: { route: { curr: 'store' } },
    });
  });

  it('keeps the bytes of the payload', () => {
    const payload = '{"n":9007199254740993,"a":1,"a":2}';
    const text = `{"id":"e-1","route":{"prev":[],"curr":"score","next":[]},"payload":${payload}}`;
    const replayed = replayOf(arrivalOf(text).envelope, OPTIONS);
    expect('envelope' in replayed && encode(replayed.envelope)).toContain(`"payload":${payload}`);
  });

  it('replaces the payload on request, and does not change the original', () => {
    const failed = aFailed();
    const before = encode(failed);
    const { body } = sent(replayOf(failed, { ...OPTIONS, payload: '{"n":2}' as JsonText }));
    expect(body['payload']).toEqual({ n: 2 });
    expect(encode(failed)).toBe(before);
  });

  it('arrives as attempt 1', () => {
    const replayed = replayOf(aFailed(), OPTIONS);
    const arrival = arrivalOf('envelope' in replayed ? encode(replayed.envelope) : '');
    expect(arrival.kind).toBe('readable');
    expect(arrival.envelope.route.curr).toBe(anActor().name);
    expect(arrival.envelope.status).toBeUndefined();
  });

  it.each(['', 'Bad Name', '-', 'unknown name'])('rejects the actor %j', (to) => {
    const failed = aFailed({ status: { ...A_FAILURE, actor: to || 'Bad' } });
    expect(problemOf(replayOf(failed, to === '' ? OPTIONS : { ...OPTIONS, to }))).toContain('--to');
  });
});

describe('replayOf an unreadable message', () => {
  const failed = aFailed({ payload: { raw: 'nonsense' }, status: { ...A_FAILURE, unreadable: true } });

  it('is rejected with a hint', () => {
    expect(problemOf(replayOf(failed, OPTIONS))).toMatch(/could not be decoded.*--patch/);
  });

  it('accepts a new payload', () => {
    const { to, body } = sent(replayOf(failed, { ...OPTIONS, payload: '{"n":1}' as JsonText }));
    expect([to, body['payload']]).toEqual(['score', { n: 1 }]);
  });
});

describe('replayOf an envelope that was dead-lettered at the crew', () => {
  const before = { phase: 'succeeded', reason: 'Completed', actor: 'store', updated_at: at(-5_000) };
  const route = { prev: ['fetch', 'store'], curr: '', next: [] };
  const lost = {
    phase: 'failed',
    reason: 'DeliveryExhausted',
    actor: 'x-sink',
    queue: 'x-sink',
    receive_count: 6,
  };
  const failed = aFailed({ route, status: { ...lost, before } });

  it('restores the previous status', () => {
    expect(sent(replayOf(failed, OPTIONS))).toMatchObject({
      to: 'x-sink',
      body: { route, payload: { n: 1 }, headers: { 'x-asya-replay': 'r-1' } },
    });
    expect(sent(replayOf(failed, { ...OPTIONS, deadlineMs: NOW })).body['status']).toEqual(before);
  });

  it('has no status if the envelope had none before', () => {
    expect(sent(replayOf(aFailed({ route, status: lost }), OPTIONS)).body).not.toHaveProperty('status');
  });

  it('can be sent to a normal actor', () => {
    expect(sent(replayOf(failed, { ...OPTIONS, to: 'store' }))).toMatchObject({
      to: 'store',
      body: { route: { curr: 'store' } },
    });
  });

  it.each<[string, Partial<ReplayOptions>, Fields]>([
    ['for another actor of the crew', { to: 'x-sump' }, {}],
    ['with another payload', { payload: '1' as JsonText }, {}],
    ['that could not be read', {}, { unreadable: true }],
  ])('is rejected %s', (_what, options, more) => {
    const one = aFailed({ route, status: { ...lost, before, ...more } });
    expect(problemOf(replayOf(one, { ...OPTIONS, ...options }))).not.toBe('');
  });

  it('rejects the crew as a target for other failures', () => {
    expect(problemOf(replayOf(aFailed(), { ...OPTIONS, to: 'x-sink' }))).toContain('is a crew actor');
  });
});
