import { describe, expect, it } from 'vitest';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { anEnvelope, deriveId, handle, NOW_TEXT, ORIGIN, valueEnd } from '../a-delivery.ts';

function refusal(body: string | Uint8Array | object) {
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const arrival = decode(text, ORIGIN);
  if (arrival.kind !== 'unreadable') throw new Error('the body is readable');
  return arrival;
}

const NAME_RULE = 'an actor\'s name is 1 to 63 characters of a-z, 0-9 and "-"';
const TIME_RULE = 'expected an RFC 3339 time such as "2026-01-01T00:00:00Z"';
const route = { prev: [], curr: 'score', next: [] };

describe('a body that is not UTF-8 JSON is a ParseError', () => {
  it.each([
    ['an empty body', '', 'the body is not JSON: unexpected end of text at line 1, column 1'],
    ['a word', 'hello', 'the body is not JSON: unexpected "h" at line 1, column 1'],
    [
      'an incomplete envelope',
      '{"id":"e",\n "route"',
      'the body is not JSON: unexpected end of text at line 2, column 9',
    ],
    ['text after the envelope', '{} {}', 'the body is not JSON: unexpected "{" at line 1, column 4'],
    ['a lone surrogate', '"\ud800"', 'the body is not UTF-8'],
    ['a byte order mark', '\ufeff{}', 'the body is not JSON: unexpected "\ufeff" at line 1, column 1'],
  ])('%s', (_what, body, problem) => {
    const arrival = refusal(body);
    expect(arrival.reason).toBe('ParseError');
    expect(arrival.problem).toBe(problem);
    expect(JSON.parse(arrival.envelope.payload)).toEqual({ raw: body });
  });

  it('keeps bytes that are not UTF-8 as base64', () => {
    const arrival = refusal(Uint8Array.of(0x7b, 0xff, 0x00));
    expect(arrival.reason).toBe('ParseError');
    expect(arrival.problem).toBe('the body is not UTF-8');
    expect(arrival.envelope.payload).toBe('{"raw_base64":"e/8A"}');
  });

  it('keeps bytes that are UTF-8 but not JSON as text', () => {
    expect(refusal(new TextEncoder().encode('é"')).envelope.payload).toBe('{"raw":"é\\""}');
  });
});

describe('JSON that is not an envelope is a ValidationError', () => {
  const long = 'z'.repeat(140);
  it.each([
    ['a number', '7', 'the body is a single value; expected an object'],
    ['null', 'null', 'the body is a single value; expected an object'],
    ['an array', '[1]', 'the body is an array; expected an object'],
    [
      'text; the message does not contain it, because it may be a payload',
      `"${long}"`,
      'the body is a single value; expected an object',
    ],
    ['no id', { route, payload: 1 }, 'id is missing'],
    ['an empty id', anEnvelope({ id: '' }), 'id is ""; expected a non-empty string'],
    ['an id that is a number', anEnvelope({ id: 7 }), 'id is 7; expected a non-empty string'],
    ['an id that is null', anEnvelope({ id: null }), 'id is null; expected a non-empty string'],
    [
      'a parent_id that is a number',
      anEnvelope({ parent_id: 7 }),
      'parent_id is 7; expected a non-empty string',
    ],
    ['an empty parent_id', anEnvelope({ parent_id: '' }), 'parent_id is ""; expected a non-empty string'],
    ['no payload', { id: 'e', route }, 'payload is missing'],
    ['no route', { id: 'e', payload: 1 }, 'route is missing'],
    ['a route that is text', anEnvelope({ route: 'score' }), 'route is "score"; expected an object'],
    ['a route that is null', anEnvelope({ route: null }), 'route is null; expected an object'],
    ['a route that is an array', anEnvelope({ route: ['a'] }), 'route is ["a"]; expected an object'],
    ['an empty route', anEnvelope({ route: {} }), 'route.prev is missing'],
    ['no prev', anEnvelope({ route: { curr: 'a', next: [] } }), 'route.prev is missing'],
    ['no curr', anEnvelope({ route: { prev: [], next: [] } }), 'route.curr is missing'],
    ['no next', anEnvelope({ route: { prev: [], curr: 'a' } }), 'route.next is missing'],
    ['curr without prev and next', anEnvelope({ route: { curr: 'a' } }), 'route.prev is missing'],
    [
      'prev that is text',
      anEnvelope({ route: { ...route, prev: 'a' } }),
      'route.prev is "a"; expected an array of actor names',
    ],
    [
      'prev that is an object',
      anEnvelope({ route: { ...route, prev: {} } }),
      'route.prev is {}; expected an array',
    ],
    [
      'an invalid name in prev',
      anEnvelope({ route: { ...route, prev: ['a', 'B'] } }),
      'route.prev[1] is "B"; an actor',
    ],
    [
      'an invalid name in curr',
      anEnvelope({ route: { ...route, curr: 'S' } }),
      `route.curr is "S"; ${NAME_RULE}`,
    ],
    ['null in curr', anEnvelope({ route: { ...route, curr: null } }), `route.curr is null; ${NAME_RULE}`],
    [
      'an invalid name in next',
      anEnvelope({ route: { ...route, next: [7] } }),
      `route.next[0] is 7; ${NAME_RULE}`,
    ],
    ['an empty name in next', anEnvelope({ route: { ...route, next: [''] } }), 'route.next[0] is ""'],
    [
      'a reserved name in prev',
      anEnvelope({ route: { ...route, prev: ['x-sink'] } }),
      'route.prev[0] is "x-sink"',
    ],
    [
      'a reserved name in curr',
      anEnvelope({ route: { ...route, curr: 'x-sump' } }),
      'route.curr is "x-sump"; names that start with "x-" are reserved for the mesh and cannot be in a route',
    ],
    [
      'a reserved name in next',
      anEnvelope({ route: { ...route, next: ['x-dlq'] } }),
      'route.next[0] is "x-dlq"',
    ],
    [
      'actors that is text',
      anEnvelope({ route: { actors: 'a', current: 0 } }),
      'route.actors is "a"; expected an array',
    ],
    [
      'an invalid name in actors',
      anEnvelope({ route: { actors: ['A'], current: 0 } }),
      'route.actors[0] is "A"',
    ],
    [
      'a reserved name in actors',
      anEnvelope({ route: { actors: ['x-sink'], current: 0 } }),
      'route.actors[0] is "x-sink"',
    ],
    [
      'no current',
      anEnvelope({ route: { actors: ['a'] } }),
      'route.current is undefined; expected a whole number',
    ],
    [
      'current below 0',
      anEnvelope({ route: { actors: ['a'], current: -1 } }),
      'route.current is -1; expected a whole number from 0 to 1',
    ],
    [
      'current past the end',
      anEnvelope({ route: { actors: ['a'], current: 2 } }),
      'route.current is 2; expected a whole',
    ],
    [
      'current that is not an integer',
      anEnvelope({ route: { actors: ['a', 'b'], current: 0.5 } }),
      'route.current is 0.5',
    ],
    ['current that is text', anEnvelope({ route: { actors: ['a'], current: '0' } }), 'route.current is "0"'],
    ['current without actors', anEnvelope({ route: { current: 0 } }), 'route.prev is missing'],
    ['headers that are an array', anEnvelope({ headers: [1] }), 'headers is [1]; expected an object'],
    ['headers that are text', anEnvelope({ headers: 'a' }), 'headers is "a"; expected an object'],
    [
      'an invalid deadline header',
      anEnvelope({ headers: { deadline_at: 'soon' } }),
      `headers.deadline_at is "soon"; ${TIME_RULE}`,
    ],
    [
      'a deadline header that is null',
      anEnvelope({ headers: { deadline_at: null } }),
      'headers.deadline_at is null; expected an RFC 3339 time',
    ],
    [
      'an invalid x-asya-not-before',
      anEnvelope({ headers: { 'x-asya-not-before': 12 } }),
      `headers.x-asya-not-before is 12; ${TIME_RULE}`,
    ],
    [
      'an invalid name in _on_error',
      anEnvelope({ headers: { _on_error: 'No One' } }),
      `headers._on_error is "No One"; ${NAME_RULE}`,
    ],
    ['an _on_error that is null', anEnvelope({ headers: { _on_error: null } }), 'headers._on_error is null'],
    [
      'a reserved name in _on_error',
      anEnvelope({ headers: { _on_error: 'x-sump' } }),
      'headers._on_error is "x-sump"; an actor\'s name',
    ],
    ['a status that is text', anEnvelope({ status: 'good' }), 'status is "good"; expected an object'],
    ['a status that is an array', anEnvelope({ status: [] }), 'status is []; expected an object'],
    [
      'attempt 0',
      anEnvelope({ status: { attempt: 0 } }),
      'status.attempt is 0; expected a whole number, 1 or more',
    ],
    ['attempt -1', anEnvelope({ status: { attempt: -1 } }), 'status.attempt is -1'],
    ['attempt 1.5', anEnvelope({ status: { attempt: 1.5 } }), 'status.attempt is 1.5'],
    ['attempt "1"', anEnvelope({ status: { attempt: '1' } }), 'status.attempt is "1"'],
    [
      'an invalid created_at',
      anEnvelope({ status: { created_at: 'once' } }),
      `status.created_at is "once"; ${TIME_RULE}`,
    ],
    [
      'an invalid deadline_at',
      anEnvelope({ status: { deadline_at: 99 } }),
      `status.deadline_at is 99; ${TIME_RULE}`,
    ],
  ])('%s', (_what, body, problem) => {
    const arrival = refusal(body);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    expect(arrival.reason).toBe('ValidationError');
    expect(arrival.problem).toContain(problem);
    expect(JSON.parse(arrival.envelope.payload)).toEqual({ raw: text });
  });

  it.each(['status', 'route'])('rejects a %s that is nested too deeply', (field) => {
    const deep = `${'{"a":'.repeat(500)}{"a":1}${'}'.repeat(500)}`;
    const body = JSON.stringify(anEnvelope({ [field]: 0 })).replace(`"${field}":0`, `"${field}":${deep}`);
    expect(refusal(body).problem).toBe(`${field} is nested deeper than 500 levels`);
  });

  it('reports that _on_error cannot contain a reserved name', () => {
    expect(refusal(anEnvelope({ headers: { _on_error: 'x-sump' } })).problem).toContain(
      'names that start with "x-" are reserved for the mesh',
    );
  });
});

describe('the envelope of an unreadable message keeps', () => {
  it('the original id', () => {
    expect(refusal({ id: 'e-9' }).envelope.id).toBe('e-9');
  });

  it.each([['{"id":""}'], ['{"id":7}'], ['{"id":null}'], ['{}'], ['[]'], ['no']])(
    'otherwise an id derived from the message id, the same on redelivery: %s',
    (body) => {
      expect(refusal(body).envelope.id).toBe(deriveId('unreadable', 'score', 'm-1'));
      expect(refusal(body)).toEqual(refusal(body));
    },
  );

  it('a route with the receiving actor', () => {
    expect(refusal({ id: 'e', route: { prev: ['a'], curr: 'B' } }).envelope.route).toEqual({
      prev: [],
      curr: 'score',
      next: [],
    });
  });

  it('a valid parent_id', () => {
    expect(refusal({ id: 'e', parent_id: 'p' }).envelope.parent_id).toBe('p');
  });

  it.each([
    ['a number', { parent_id: 7 }],
    ['empty', { parent_id: '' }],
    ['null', { parent_id: null }],
    ['missing', {}],
  ])('no parent_id that is %s', (_what, body) => {
    expect(refusal(body).envelope).not.toHaveProperty('parent_id');
  });

  it.each([
    ['the status', { status: { deadline_at: NOW_TEXT } }],
    ['the headers', { headers: { deadline_at: NOW_TEXT } }],
    ['the headers if the status has none', { status: {}, headers: { deadline_at: NOW_TEXT } }],
    [
      'the headers if that of the status is invalid',
      { status: { deadline_at: 'soon' }, headers: { deadline_at: NOW_TEXT } },
    ],
    ['the headers if the status is not an object', { status: 7, headers: { deadline_at: NOW_TEXT } }],
    [
      'the status if both are valid',
      { status: { deadline_at: NOW_TEXT }, headers: { deadline_at: '2027-01-01T00:00:00Z' } },
    ],
  ])('the deadline in %s', (_what, body) => {
    expect(refusal(body).envelope.status).toEqual({ deadline_at: NOW_TEXT });
  });

  it('the deadline, written in UTC', () => {
    expect(refusal({ status: { deadline_at: '2026-01-01T02:00:00+02:00' } }).envelope.status).toEqual({
      deadline_at: NOW_TEXT,
    });
    expect(refusal({ headers: { deadline_at: '2025-12-31T23:00:00-01:00' } }).envelope.status).toEqual({
      deadline_at: NOW_TEXT,
    });
  });

  it.each([
    ['no deadline', {}],
    ['an invalid one in the status', { status: { deadline_at: 'soon' } }],
    ['an invalid one in the headers', { headers: { deadline_at: 7 } }],
    ['headers that are not an object', { headers: 'deadline_at' }],
  ])('no deadline with %s', (_what, body) => {
    expect(refusal(body).envelope).not.toHaveProperty('status');
  });

  it('only the headers of trace, task, flow and replay', () => {
    const headers = {
      traceparent: '00-1-2-01',
      tracestate: 'a=b',
      'x-asya-task': 't',
      'x-asya-flow': 'f',
      'x-asya-replay': 'r',
      _on_error: 'recover',
      'x-asya-not-before': '2030-01-01T00:00:00Z',
      mine: 1,
    };
    expect([...refusal({ headers }).envelope.headers]).toEqual([
      ['traceparent', '"00-1-2-01"'],
      ['tracestate', '"a=b"'],
      ['x-asya-task', '"t"'],
      ['x-asya-flow', '"f"'],
      ['x-asya-replay', '"r"'],
    ]);
  });

  it('no headers that are not text', () => {
    expect(refusal({ headers: { 'x-asya-task': 7, traceparent: null } }).envelope.headers.size).toBe(0);
    expect(refusal({ headers: 7 }).envelope.headers.size).toBe(0);
  });

  it('unknown keys only in the raw payload', () => {
    expect(refusal({ more: 1 }).envelope.extra.size).toBe(0);
  });
});

describe('an unreadable message goes to x-sink as failed and is acknowledged', () => {
  it.each([
    ['{"id":"e-9","parent_id":"p-1"}', 'ValidationError', 'payload is missing', 'validation_error'],
    ['not JSON', 'ParseError', 'the body is not JSON: unexpected "n" at line 1, column 1', 'parse_error'],
  ])('%s', (body, reason, message, failed) => {
    const { called, sends, sent, plan } = handle(body, valueEnd(1), {
      policies: { default: { maxAttempts: 3 } },
    });
    expect(called).toBe(false);
    expect(sends.map(({ to, type, delayMs }) => ({ to, type, delayMs }))).toEqual([
      { to: 'x-sink', type: 'sink', delayMs: 0 },
    ]);
    expect(sent.route).toEqual({ prev: [], curr: 'score', next: [] });
    expect(sent.payload).toEqual({ raw: body });
    expect(sent.status).toEqual({
      phase: 'failed',
      reason,
      actor: 'score',
      attempt: 1,
      created_at: NOW_TEXT,
      updated_at: NOW_TEXT,
      unreadable: true,
      error: { type: reason, mro: [], message, traceback: '' },
    });
    expect(plan.settle).toBe('ack');
    expect(plan.facts).toEqual([
      { fact: 'failed', reason: failed },
      { fact: 'sent', to: 'x-sink', type: 'sink' },
    ]);
  });
});
