import { describe, expect, it } from 'vitest';
import { type Arrival, decode } from '../../../lib/core/envelope/decode.ts';
import type { Envelope } from '../../../lib/core/envelope/envelope.ts';
import { anEnvelope, ORIGIN } from '../a-delivery.ts';

function readable(body: string | Uint8Array | object): Envelope {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const arrival: Arrival = decode(text, ORIGIN);
  if (arrival.kind !== 'readable') throw new Error(`refused: ${arrival.problem}`);
  return arrival.envelope;
}

describe('decode reads a valid envelope', () => {
  it('with all fields', () => {
    const envelope = readable(
      '{"id":"7f0c","parent_id":"6e0b","route":{"prev":["fetch"],"curr":"score","next":["store"]},' +
        '"headers":{"traceparent":"00-1-2-01","n": 1},"payload":{"n":1},' +
        '"status":{"phase":"pending","attempt":1},"more":[ 1 ],"again":{}}',
    );
    expect(envelope).toEqual({
      id: '7f0c',
      parent_id: '6e0b',
      route: { prev: ['fetch'], curr: 'score', next: ['store'] },
      headers: new Map([
        ['traceparent', '"00-1-2-01"'],
        ['n', '1'],
      ]),
      payload: '{"n":1}',
      status: { phase: 'pending', attempt: 1 },
      extra: new Map([
        ['more', '[ 1 ]'],
        ['again', '{}'],
      ]),
    });
  });

  it('with the required fields only', () => {
    expect(readable('{"id":"e","route":{"prev":[],"curr":"","next":[]},"payload":null}')).toEqual({
      id: 'e',
      route: { prev: [], curr: '', next: [] },
      headers: new Map(),
      payload: 'null',
      extra: new Map(),
    });
  });

  it('from bytes or text', () => {
    const text = JSON.stringify(anEnvelope({ payload: 'é' }));
    expect(readable(new TextEncoder().encode(text))).toEqual(readable(text));
  });

  it.each([
    ['parent_id', { parent_id: null }, {}],
    ['headers', { headers: null }, {}],
    ['status', { status: null }, {}],
    [
      'every key of the status',
      {
        status: {
          phase: 'retrying',
          reason: null,
          actor: null,
          attempt: null,
          max_attempts: null,
          created_at: null,
          updated_at: null,
          deadline_at: null,
          error: null,
          later: null,
        },
      },
      { status: { phase: 'retrying' } },
    ],
    [
      'route.prev and route.next',
      { route: { prev: null, curr: 'score', next: null } },
      { route: { prev: [], curr: 'score', next: [] } },
    ],
  ])('null means absent: %s', (_what, nulls, absent) => {
    expect(readable(anEnvelope(nulls))).toStrictEqual(readable(anEnvelope(absent)));
  });

  it('null is kept in the payload and in unknown keys', () => {
    const envelope = readable(anEnvelope({ payload: null, more: null }));
    expect(envelope.payload).toBe('null');
    expect(envelope.extra.get('more')).toBe('null');
  });

  it('a deadline header counts if the status has a deadline of null', () => {
    const deadline = '2026-01-01T00:05:00Z';
    const { status } = readable(
      anEnvelope({ headers: { deadline_at: deadline }, status: { deadline_at: null } }),
    );
    expect(status).toEqual({ deadline_at: deadline });
  });
});

describe('the payload', () => {
  it.each([
    ['a 64-bit integer', '9007199254740993'],
    ['a duplicate key', '{"a":1,"a":2}'],
    ['white space', '{ "a" :\n[ 1,\t2 ] }'],
    ['an unusual notation of a number', '1.50e+2'],
    ['escapes', '"\\u0061\\/"'],
    ['null', 'null'],
    ['false', 'false'],
    ['empty text', '""'],
    ['ten thousand brackets', '['.repeat(10_000) + ']'.repeat(10_000)],
  ])('keeps %s', (_what, payload) => {
    const body = `{"id":"e","payload": ${payload} ,"route":{"prev":[],"curr":"score","next":[]}}`;
    expect(readable(body).payload).toBe(payload);
  });
});

describe('the older route shape', () => {
  it.each([
    [
      { actors: ['a', 'b', 'c'], current: 0 },
      { prev: [], curr: 'a', next: ['b', 'c'] },
    ],
    [
      { actors: ['a', 'b', 'c'], current: 1 },
      { prev: ['a'], curr: 'b', next: ['c'] },
    ],
    [
      { actors: ['a', 'b', 'c'], current: 2 },
      { prev: ['a', 'b'], curr: 'c', next: [] },
    ],
    [
      { actors: ['a', 'b', 'c'], current: 3 },
      { prev: ['a', 'b', 'c'], curr: '', next: [] },
    ],
    [
      { actors: [], current: 0 },
      { prev: [], curr: '', next: [] },
    ],
    [
      { actors: ['a'], current: 0, note: 1 },
      { prev: [], curr: 'a', next: [], note: 1 },
    ],
  ])('reads %j as %j', (route, read) => {
    expect(readable(anEnvelope({ route })).route).toEqual(read);
  });

  it.each([
    ['a valid one', { actors: ['x', 'y'], current: 1 }],
    ['an invalid one', { actors: 'nonsense', current: -1 }],
  ])('is ignored if the new one is complete: %s', (_what, older) => {
    const route = { prev: [], curr: 'b', next: ['c'] };
    expect(readable(anEnvelope({ route: { ...older, ...route } })).route).toEqual(route);
  });

  it.each([
    { prev: ['z'] },
    { curr: 'z' },
    { next: ['z'] },
    { prev: ['z'], curr: 'z' },
    { curr: 'z', next: ['z'] },
    { prev: ['z'], next: ['z'] },
  ])('is used if the new one is incomplete: %j', (piece) => {
    expect(readable(anEnvelope({ route: { actors: ['a', 'b', 'c'], current: 1, ...piece } })).route).toEqual({
      prev: ['a'],
      curr: 'b',
      next: ['c'],
    });
  });
});

describe('the deadline', () => {
  it('is moved from the header to the status', () => {
    const envelope = readable(anEnvelope({ headers: { deadline_at: '2026-01-01T02:00:00+02:00', a: 1 } }));
    expect(envelope.status).toEqual({ deadline_at: '2026-01-01T00:00:00Z' });
    expect(envelope.headers).toEqual(new Map([['a', '1']]));
  });

  it('is added to a status without a deadline', () => {
    const envelope = readable(
      anEnvelope({ headers: { deadline_at: '2026-01-01T00:00:00Z' }, status: { phase: 'pending' } }),
    );
    expect(envelope.status).toEqual({ phase: 'pending', deadline_at: '2026-01-01T00:00:00Z' });
  });

  it('is that of the status if both are present', () => {
    const envelope = readable(
      anEnvelope({
        headers: { deadline_at: '2026-01-01T00:00:00Z' },
        status: { deadline_at: '2027-01-01T00:00:00Z' },
      }),
    );
    expect(envelope.status).toEqual({ deadline_at: '2027-01-01T00:00:00Z' });
    expect(envelope.headers.size).toBe(0);
  });

  it('creates no status if it is absent', () => {
    expect(readable(anEnvelope())).not.toHaveProperty('status');
  });
});

describe('the status', () => {
  it.each([
    ['an unknown phase and reason', { phase: 'dreaming', reason: 'Because' }],
    ['keys of a later version', { phase: 'pending', later: { a: [1] } }],
    ['an empty status', {}],
    ['the first attempt', { attempt: 1 }],
    ['a later attempt', { attempt: 41 }],
    ['a very large attempt', { attempt: 2 ** 60 }],
    ['an error of any shape', { error: 'odd' }],
  ])('accepts %s', (_what, status) => {
    expect(readable(anEnvelope({ status })).status).toEqual(status);
  });

  it.each(['created_at', 'deadline_at'])(
    '%s with an offset is converted to UTC, and other keys are kept',
    (key) => {
      const status = { phase: 'pending', [key]: '2026-01-01T01:00:00+01:00', reason: 'Odd' };
      expect(readable(anEnvelope({ status })).status).toStrictEqual({
        ...status,
        [key]: '2026-01-01T00:00:00Z',
      });
    },
  );

  it('timestamps with an offset are converted to UTC', () => {
    const status = { created_at: '2026-01-01T01:00:00+01:00', deadline_at: '2025-12-31T23:00:00-01:00' };
    expect(readable(anEnvelope({ status })).status).toEqual({
      created_at: '2026-01-01T00:00:00Z',
      deadline_at: '2026-01-01T00:00:00Z',
    });
  });

  it.each([
    ['MaxRetriesExhausted', 'PolicyExhausted'],
    ['PolicyExhausted', 'PolicyExhausted'],
    ['Timeout', 'Timeout'],
  ])('the reason %s is read as %s', (reason, read) => {
    expect(readable(anEnvelope({ status: { reason } })).status).toEqual({ reason: read });
  });

  it('may be nested 500 levels deep', () => {
    const nested = (levels: number) =>
      JSON.parse(`${'{"a":'.repeat(levels - 1)}{"a":1}${'}'.repeat(levels - 1)}`);
    expect(readable(anEnvelope({ status: nested(500) })).status).toEqual(nested(500));
  });
});

describe('headers that the sidecar reads', () => {
  it.each([
    ['a valid x-asya-not-before', { 'x-asya-not-before': '2026-01-01T00:00:00Z' }],
    ['a valid _on_error', { _on_error: 'recover' }],
    ['an invalid event_time', { event_time: 'long ago' }],
    ['any other header', { any: { thing: [1] } }],
  ])('accepts %s', (_what, headers) => {
    const [[name, value] = []] = Object.entries(headers);
    expect(readable(anEnvelope({ headers })).headers).toEqual(new Map([[name, JSON.stringify(value)]]));
  });
});
