import { describe, expect, it } from 'vitest';
import { answerFromSocket } from '../../../lib/core/delivery/answer.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import type { JsonText } from '../../../lib/core/text/json-text.ts';
import { anEnvelope, at, deriveId, handle, NOW, NOW_TEXT, type Setting, valueEnd } from '../a-delivery.ts';

const LAST = { prev: ['fetch'], curr: 'score', next: [] };
const PENDING = { phase: 'pending', actor: 'score', attempt: 1, created_at: NOW_TEXT, updated_at: NOW_TEXT };
const COMPLETED = { ...PENDING, phase: 'succeeded', reason: 'Completed' };

function frames(...all: readonly object[]): CallResult {
  return { kind: 'frames', frames: all.map((frame) => ({ payload: '1' as JsonText, ...frame })) };
}

describe('one value', () => {
  it('goes to the next actor', () => {
    const { sends, plan } = handle(anEnvelope({ headers: { a: 1 } }), valueEnd({ score: 7 }));
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'store', type: 'next', delayMs: 0 });
    expect(sends[0]?.envelope).toEqual({
      id: 'e-1',
      route: { prev: ['fetch', 'score'], curr: 'store', next: [] },
      headers: { a: 1 },
      payload: { score: 7 },
      status: PENDING,
    });
    expect(plan.settle).toBe('ack');
  });

  it('advances the route by one', () => {
    const route = { prev: ['a', 'b'], curr: 'score', next: ['c', 'd', 'e'] };
    expect(handle(anEnvelope({ route }), valueEnd(1)).sent.route).toEqual({
      prev: ['a', 'b', 'score'],
      curr: 'c',
      next: ['d', 'e'],
    });
  });

  it('at the end of the route goes to x-sink as a success', () => {
    const { sends, sent } = handle(anEnvelope({ route: LAST }), valueEnd({ score: 7 }));
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent.route).toEqual({ prev: ['fetch', 'score'], curr: '', next: [] });
    expect(sent.payload).toEqual({ score: 7 });
    expect(sent.status).toEqual(COMPLETED);
  });

  it('goes to the configured sink at the end', () => {
    expect(handle(anEnvelope({ route: LAST }), valueEnd(1), { actor: { sink: 'my-end' } }).sends[0]?.to).toBe(
      'my-end',
    );
  });

  it.each([[0], [false], [''], [{}]])('%j is a value', (value) => {
    const { sends, sent } = handle(anEnvelope(), valueEnd(value));
    expect(sends[0]?.to).toBe('store');
    expect(sent.payload).toEqual(value);
  });

  it('keeps its bytes', () => {
    const answer = answerFromSocket('{ "n" : 9007199254740993, "n": 1.0 }', 'array');
    expect(handle(anEnvelope(), answer).sends[0]?.body).toContain(
      '"payload":{ "n" : 9007199254740993, "n": 1.0 }',
    );
  });

  it('after a retry has neither error nor reason', () => {
    const error = { type: 'A', mro: [], message: '', traceback: '' };
    const status = {
      phase: 'retrying',
      actor: 'score',
      attempt: 1,
      reason: 'RuntimeError',
      error,
      created_at: at(-9),
    };
    const { sent } = handle(anEnvelope({ status }), valueEnd(1));
    expect(sent.status).toEqual({ ...PENDING, attempt: 2, created_at: at(-9) });
  });
});

describe('max_attempts', () => {
  it('is kept in the sent status, also after an empty answer', () => {
    const status = { phase: 'retrying', actor: 'score', attempt: 1, max_attempts: 3, created_at: at(-9) };
    const expected = { ...PENDING, attempt: 2, max_attempts: 3, created_at: at(-9) };
    expect(handle(anEnvelope({ status }), valueEnd(1)).sent.status).toEqual(expected);
    expect(handle(anEnvelope({ status }), { kind: 'empty' }).sent.status).toEqual({
      ...expected,
      phase: 'succeeded',
      reason: 'Completed',
    });
  });
});

describe('fan-out', () => {
  const received = anEnvelope({ headers: { a: 1 }, more: 2 });

  it('sends each item separately', () => {
    const { sends, plan } = handle(received, valueEnd('zero', 'one', 'two'));
    expect(sends.map(({ to, type, delayMs }) => ({ to, type, delayMs }))).toEqual(
      Array.from({ length: 3 }, () => ({ to: 'store', type: 'next', delayMs: 0 })),
    );
    expect(sends.map(({ envelope }) => envelope.payload)).toEqual(['zero', 'one', 'two']);
    for (const { envelope } of sends) {
      expect(envelope).toMatchObject({
        route: { prev: ['fetch', 'score'], curr: 'store', next: [] },
        headers: { a: 1 },
        status: PENDING,
        more: 2,
      });
    }
    expect(plan.settle).toBe('ack');
  });

  it('item 0 keeps the id; the others have an id derived from id, actor, hop and index', () => {
    const { sends } = handle(received, valueEnd('zero', 'one', 'two'));
    expect(sends.map(({ envelope }) => envelope.id)).toEqual([
      'e-1',
      deriveId('fan-out', 'e-1', 'score', 1, 1),
      deriveId('fan-out', 'e-1', 'score', 1, 2),
    ]);
    expect(sends.map(({ envelope }) => envelope.parent_id)).toEqual([undefined, 'e-1', 'e-1']);
  });

  it('item 0 keeps its parent_id and is the parent of the others', () => {
    const { sends } = handle(anEnvelope({ parent_id: 'p-1' }), valueEnd('zero', 'one'));
    expect(sends.map(({ envelope }) => envelope.parent_id)).toEqual(['p-1', 'e-1']);
  });

  it('derives other ids at another hop', () => {
    const later = anEnvelope({ route: { prev: ['fetch', 'score'], curr: 'score', next: [] } });
    const ids = (envelope: object) => handle({ ...envelope }, valueEnd(0, 1)).sends[1]?.envelope.id;
    expect(ids(received)).not.toBe(ids(later));
  });

  it('at the end of the route goes to x-sink, item by item', () => {
    const { sends } = handle(anEnvelope({ route: LAST }), valueEnd('zero', 'one'));
    expect(sends.map(({ to, type }) => [to, type])).toEqual([
      ['x-sink', 'sink'],
      ['x-sink', 'sink'],
    ]);
    const fan_out = [{ actor: 'score', hop: 1, items: 2 }];
    expect(sends.map(({ envelope }) => envelope.status)).toEqual([{ ...COMPLETED, fan_out }, COMPLETED]);
  });
});

describe('an empty answer', () => {
  it('goes to x-sink as a success with the original payload and route', () => {
    const { sends, sent, plan } = handle(anEnvelope({ headers: { a: 1 }, more: 2 }), { kind: 'empty' });
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink', delayMs: 0 });
    expect(sent).toEqual({
      id: 'e-1',
      route: { prev: ['fetch'], curr: 'score', next: ['store'] },
      headers: { a: 1 },
      payload: { n: 1 },
      status: COMPLETED,
      more: 2,
    });
    expect(plan.settle).toBe('ack');
  });

  it('without frames is handled the same way', () => {
    const { sends, sent } = handle(anEnvelope(), { kind: 'frames', frames: [] });
    expect(sends.map(({ to }) => to)).toEqual(['x-sink']);
    expect(sent.status).toEqual(COMPLETED);
  });
});

describe('a handler changes the route', () => {
  it('to other actors', () => {
    const { sends, sent } = handle(anEnvelope(), frames({ next: ['a', 'b'] }));
    expect(sends[0]?.to).toBe('a');
    expect(sent.route).toEqual({ prev: ['fetch', 'score'], curr: 'a', next: ['b'] });
  });

  it('to the end', () => {
    const { sends, sent } = handle(anEnvelope(), frames({ next: [] }));
    expect(sends[0]?.to).toBe('x-sink');
    expect(sent.route).toEqual({ prev: ['fetch', 'score'], curr: '', next: [] });
    expect(sent.status).toEqual(COMPLETED);
  });

  it('for each item separately', () => {
    const { sends } = handle(anEnvelope(), frames({ next: ['a'] }, { next: [] }, {}));
    expect(sends.map(({ to, type }) => [to, type])).toEqual([
      ['a', 'next'],
      ['x-sink', 'sink'],
      ['store', 'next'],
    ]);
  });

  const refused: readonly (readonly [string, readonly string[], Setting, string])[] = [
    ['an invalid name', ['A'], {}, 'the handler\'s route.next[0] is "A"; an actor\'s name'],
    ['a reserved name', ['a', 'x-sump'], {}, 'the handler\'s route.next[1] is "x-sump"'],
    [
      'an actor that is not allowed',
      ['b'],
      { actor: { routeAllow: new Set(['a']) } },
      'is "b"; ASYA_ROUTE_ALLOW allows a',
    ],
    [
      'an additional actor that is not allowed',
      ['store', 'b'],
      { actor: { routeAllow: new Set(['store']) } },
      'next[1] is "b"',
    ],
  ];
  it.each(refused)(
    'rejects %s: ValidationError with the original payload',
    (_what, next, setting, problem) => {
      const { sends, sent, plan } = handle(anEnvelope(), frames({}, { next }), setting);
      expect(sends).toHaveLength(1);
      expect(sends[0]).toMatchObject({ to: 'x-sink', type: 'sink' });
      expect(sent.status).toMatchObject({ phase: 'failed', reason: 'ValidationError' });
      expect(sent.status?.error).toMatchObject({ type: 'ValidationError', mro: [], traceback: '' });
      expect(sent.status?.error?.message).toContain(problem);
      expect(sent.payload).toEqual({ n: 1 });
      expect(sent.route).toEqual({ prev: ['fetch'], curr: 'score', next: ['store'] });
      expect(plan.settle).toBe('ack');
    },
  );

  const allowed: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['an allowed actor', ['a'], ['a', 'b']],
    ['the planned route, even if its actors are not allowed', ['store'], ['a']],
    ['an empty route if no actor is allowed', [], []],
  ];
  it.each(allowed)('accepts %s', (_what, next, names) => {
    const { sends } = handle(anEnvelope(), frames({ next }), { actor: { routeAllow: new Set(names) } });
    expect(sends[0]?.to).toBe(next[0] ?? 'x-sink');
  });

  it('treats another order as a change', () => {
    const route = { prev: [], curr: 'score', next: ['a', 'b'] };
    const { sent } = handle(anEnvelope({ route }), frames({ next: ['b', 'a'] }), {
      actor: { routeAllow: new Set(['b']) },
    });
    expect(sent.status?.reason).toBe('ValidationError');
  });

  it('treats one different name as a change', () => {
    const route = { prev: [], curr: 'score', next: ['a', 'b'] };
    const { sent } = handle(anEnvelope({ route }), frames({ next: ['a', 'c'] }), {
      actor: { routeAllow: new Set(['a']) },
    });
    expect(sent.status?.reason).toBe('ValidationError');
  });

  it('treats a shorter list as a change', () => {
    const route = { prev: [], curr: 'score', next: ['a', 'b'] };
    const { sent } = handle(anEnvelope({ route }), frames({ next: ['a'] }), {
      actor: { routeAllow: new Set(['b']) },
    });
    expect(sent.status?.reason).toBe('ValidationError');
  });
});

describe('a handler returns headers', () => {
  const headers = {
    traceparent: '00-1-2-01',
    tracestate: 'a=b',
    'x-asya-task': 't',
    _on_error: 'recover',
    mine: 1,
  };

  it('replaces the given ones, except for those of the sidecar', () => {
    const answered = new Map([
      ['other', '[ 2 ]'],
      ['traceparent', '"forged"'],
      ['TraceState', '"forged"'],
      ['x-asya-task', '"forged"'],
      ['X-Asya-Not-Before', '"2030-01-01T00:00:00Z"'],
      ['deadline_at', '"2030-01-01T00:00:00Z"'],
      ['Deadline_At', '"2030-01-01T00:00:00Z"'],
    ]);
    const { sent } = handle(anEnvelope({ headers }), frames({ headers: answered }));
    expect(sent.headers).toEqual({
      traceparent: '00-1-2-01',
      tracestate: 'a=b',
      'x-asya-task': 't',
      other: [2],
    });
  });

  it('keeps all headers if the handler returns none', () => {
    expect(handle(anEnvelope({ headers }), frames({})).sent.headers).toEqual(headers);
  });

  it('removes all headers of the handler if it returns an empty object', () => {
    expect(
      handle(anEnvelope({ headers: { mine: 1, 'x-asyatic': 2 } }), frames({ headers: new Map() })).sent
        .headers,
    ).toEqual({});
  });

  it.each([['"recover"'], ['"a-1"']])('accepts a valid _on_error: %s', (text) => {
    const { sends, sent } = handle(
      anEnvelope({ headers }),
      frames({ headers: new Map([['_on_error', text]]) }),
    );
    expect(sends[0]?.to).toBe('store');
    expect(sent.headers['_on_error']).toBe(JSON.parse(text));
  });

  it.each([['"Recover"'], ['"x-sump"'], ['7'], ['null']])(
    'rejects an invalid _on_error, %s: ValidationError',
    (text) => {
      const { sends, sent } = handle(anEnvelope(), frames({}, { headers: new Map([['_on_error', text]]) }));
      expect(sends.map(({ to }) => to)).toEqual(['x-sink']);
      expect(sent.status).toMatchObject({ phase: 'failed', reason: 'ValidationError' });
      expect(sent.status?.error?.message).toBe(
        `the handler's header _on_error is ${text}; an actor's name is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end`,
      );
      expect(sent.payload).toEqual({ n: 1 });
    },
  );

  it('cannot change the id, the parent, the status or the previous actors', () => {
    const forged = { id: 'forged', parent_id: 'forged', status: { phase: 'failed' }, prev: [] };
    const { sent } = handle(anEnvelope({ parent_id: 'p' }), frames(forged));
    expect(sent).toMatchObject({ id: 'e-1', parent_id: 'p', status: PENDING });
    expect(sent.route.prev).toEqual(['fetch', 'score']);
  });
});

describe('a runtime killed because of another call', () => {
  it('resends the envelope unchanged', () => {
    const received = anEnvelope({
      headers: { 'x-asya-not-before': at(-5) },
      status: { phase: 'retrying', actor: 'score', attempt: 2 },
    });
    const { sends, sent, plan } = handle(received, { kind: 'interrupted' }, { later: NOW + 1_000 });
    expect(sends).toHaveLength(1);
    expect(sends[0]).toMatchObject({ to: 'score', type: 'again', delayMs: 0 });
    expect(sent).toEqual(received);
    expect(plan.settle).toBe('ack');
  });
});
