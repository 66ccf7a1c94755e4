import { describe, expect, it } from 'vitest';
import {
  answerFromEventStream,
  answerFromFrames,
  answerFromFramesOverHttp,
  nextFromHeader,
} from '../../../lib/core/delivery/answer-envelope.ts';

const ROUTE = { prev: ['fetch'], curr: 'score', next: ['store', 'tell'] };
const UNREADABLE = "the runtime's answer cannot be read: ";

function framed(...frames: readonly unknown[]): string {
  return JSON.stringify({ frames });
}

describe('frames', () => {
  it('are as many values, each with its own bytes', () => {
    expect(
      answerFromFrames('{"frames":[ {"payload": 9007199254740993 }, {"payload":{ "a":1 }} ]}', ROUTE),
    ).toEqual({
      kind: 'frames',
      frames: [{ payload: '9007199254740993' }, { payload: '{ "a":1 }' }],
    });
  });

  it('may hold any payload', () => {
    expect(answerFromFrames(framed({ payload: null }, { payload: [] }, { payload: false }), ROUTE)).toEqual({
      kind: 'frames',
      frames: [{ payload: 'null' }, { payload: '[]' }, { payload: 'false' }],
    });
  });

  it.each([['{"frames":[]}'], ['{"frames":[ ]}'], ['null']])('%s is empty', (text) => {
    expect(answerFromFrames(text, ROUTE)).toEqual({ kind: 'empty' });
  });

  it.each([
    ['not shifted: the rest is next', { prev: ['fetch'], curr: 'score', next: ['a', 'b'] }, ['a', 'b']],
    ['not shifted, at the end', { prev: ['fetch'], curr: 'score', next: [] }, []],
    ['shifted: the rest is curr and next', { prev: ['fetch', 'score'], curr: 'a', next: ['b'] }, ['a', 'b']],
    ['shifted to the end', { prev: ['fetch', 'score'], curr: '', next: [] }, []],
    ['without a past', { prev: [], curr: 'score', next: ['a'] }, ['a']],
  ])('tell where to go on, the route %s', (_what, route, next) => {
    expect(answerFromFrames(framed({ payload: 1, route }), ROUTE)).toEqual({
      kind: 'frames',
      frames: [{ payload: '1', next }],
    });
  });

  it('may hold headers, each with its own bytes', () => {
    expect(answerFromFrames('{"frames":[{"payload":1,"headers":{"a": [ 1 ]}}]}', ROUTE)).toEqual({
      kind: 'frames',
      frames: [{ payload: '1', headers: new Map([['a', '[ 1 ]']]) }],
    });
  });

  it('say nothing of a route or headers where none came', () => {
    expect(answerFromFrames(framed({ payload: 1 }), ROUTE)).toStrictEqual({
      kind: 'frames',
      frames: [{ payload: '1' }],
    });
  });

  it('with headers of null have none to tell', () => {
    expect(answerFromFrames(framed({ payload: 1, headers: null }), ROUTE)).toEqual({
      kind: 'frames',
      frames: [{ payload: '1' }],
    });
  });

  it.each([
    ['a frame of text', framed('x'), 'frame 0 is not an object'],
    ['a frame of a list', framed([1]), 'frame 0 is not an object'],
    ['no payload in the second', framed({ payload: 1 }, { headers: {} }), 'frame 1 has no payload'],
    ['headers of text', framed({ payload: 1, headers: 'x' }), 'frame 0 has headers that are not an object'],
    ['headers of a list', framed({ payload: 1, headers: [] }), 'frame 0 has headers that are not an object'],
    [
      'a route of null',
      framed({ payload: 1, route: null }),
      'frame 0 has a route without prev, curr and next',
    ],
    [
      'a route of text',
      framed({ payload: 1, route: 'x' }),
      'frame 0 has a route without prev, curr and next',
    ],
    ['no prev', framed({ payload: 1, route: { curr: 'a', next: [] } }), 'frame 0 has a route without prev'],
    ['no curr', framed({ payload: 1, route: { prev: [], next: [] } }), 'frame 0 has a route without prev'],
    ['no next', framed({ payload: 1, route: { prev: [], curr: 'a' } }), 'frame 0 has a route without prev'],
    ['frames of text', '{"frames":"x"}', 'expected {"frames":[...]}, null or an error object'],
    ['a value', '{"a":1}', 'expected {"frames":[...]}'],
    ['a list', '[1]', 'expected {"frames":[...]}'],
    ['an empty list', '[]', 'expected {"frames":[...]}'],
    ['a number', '7', 'expected {"frames":[...]}'],
  ])('cannot be read: %s', (_what, text, detail) => {
    const answer = answerFromFrames(text, ROUTE);
    expect(answer.kind).toBe('unreachable');
    expect(answer.kind === 'unreachable' && answer.detail).toContain(`${UNREADABLE}${detail}`);
  });

  it('whose route is nested too deep cannot be read', () => {
    const deep = `${'{"a":'.repeat(64)}{"a":1}${'}'.repeat(64)}`;
    const answer = answerFromFrames(`{"frames":[{"payload":1,"route":${deep}}]}`, ROUTE);
    expect(answer.kind === 'unreachable' && answer.detail).toContain('frame 0 has a route without prev');
  });

  it('that are not JSON are as good as no connection', () => {
    const answer = answerFromFrames('oops', ROUTE);
    expect(answer).toEqual({
      kind: 'unreachable',
      detail: 'the runtime\'s answer is not JSON: unexpected "o" at line 1, column 1',
    });
  });

  it('may be an error object instead', () => {
    expect(answerFromFrames('{"error":"e","message":"m","type":"T"}', ROUTE)).toMatchObject({
      kind: 'fault',
      fault: { type: 'T', message: 'm' },
    });
  });
});

describe('frames over HTTP', () => {
  it('are read from a 200', () => {
    expect(answerFromFramesOverHttp({ status: 200, text: framed({ payload: 1 }) }, ROUTE)).toEqual({
      kind: 'frames',
      frames: [{ payload: '1' }],
    });
    expect(answerFromFramesOverHttp({ status: 399, text: 'null' }, ROUTE)).toEqual({ kind: 'empty' });
  });

  it('are none in a 204', () => {
    expect(answerFromFramesOverHttp({ status: 204, text: '' }, ROUTE)).toEqual({ kind: 'empty' });
  });

  it.each([400, 500])('are an error in a %d', (status) => {
    const answer = answerFromFramesOverHttp({ status, text: framed({ payload: 1 }), retryAfter: '7' }, ROUTE);
    expect(answer).toMatchObject({
      kind: 'fault',
      fault: { type: 'HTTPError', httpStatus: status, retryAfter: '7' },
    });
  });

  it('do not take an error object in a 200 for a value', () => {
    const text = '{"error":"e","message":"m","type":"T"}';
    expect(answerFromFramesOverHttp({ status: 200, text }, ROUTE).kind).toBe('fault');
  });
});

describe('a stream of events', () => {
  const stream = (...events: readonly (readonly [string, string])[]) =>
    events.map(([name, data]) => `event: ${name}\ndata: ${data}\n\n`).join('');

  it('has for frames what goes downstream', () => {
    const text = stream(
      ['upstream', '{"progress":1}'],
      ['downstream', '{"payload":1}'],
      ['upstream', '{"payload":"not for the next actor"}'],
      ['downstream', '{"payload":2,"headers":{"a":1}}'],
      ['done', ''],
    );
    expect(answerFromEventStream(text, ROUTE)).toEqual({
      kind: 'frames',
      frames: [{ payload: '1' }, { payload: '2', headers: new Map([['a', '1']]) }],
    });
  });

  it('that is done and has none is empty', () => {
    expect(answerFromEventStream(stream(['done', '{}']), ROUTE)).toEqual({ kind: 'empty' });
  });

  it.each([
    ['nothing', ''],
    ['frames alone', stream(['downstream', '{"payload":1}'])],
    ['done, but cut before its blank line', 'event: done\ndata: {}\n'],
    ['another name', stream(['finished', '{}'])],
    ['no name', 'data: done\n\n'],
    ['done as data', stream(['downstream', '{"payload":"done"}'])],
  ])('without done failed: %s', (_what, text) => {
    expect(answerFromEventStream(text, ROUTE)).toEqual({
      kind: 'unreachable',
      detail: `${UNREADABLE}the event stream ended without "done"`,
    });
  });

  it.each([
    [
      'at its end',
      stream(
        ['downstream', '{"payload":1}'],
        ['error', '{"error":"e","details":{"type":"T","message":"m"}}'],
      ),
    ],
    ['before done', stream(['error', '{"error":"e","message":"m","type":"T"}'], ['done', ''])],
  ])('with an error is that error: %s', (_what, text) => {
    expect(answerFromEventStream(text, ROUTE)).toEqual({
      kind: 'fault',
      fault: { type: 'T', mro: [], message: 'm', traceback: '' },
    });
  });

  it.each(['boom', '"boom"', '[1]'])('with an error that is no object still has one: %s', (data) => {
    expect(answerFromEventStream(stream(['error', data]), ROUTE)).toEqual({
      kind: 'fault',
      fault: { type: 'StreamError', mro: ['Exception'], message: data, traceback: '' },
    });
  });

  it('with a frame that cannot be read is unreadable', () => {
    const text = stream(['downstream', '{"payload":1}'], ['downstream', '{}'], ['done', '']);
    expect(answerFromEventStream(text, ROUTE)).toEqual({
      kind: 'unreachable',
      detail: `${UNREADABLE}frame 1 has no payload`,
    });
  });

  it.each([
    ['no blank after the colon', 'event:downstream\ndata:{"payload":1}\n\nevent:done\n\n'],
    ['two blanks, of which one counts', 'event: downstream\ndata:  {"payload":1}\n\nevent: done\n\n'],
    ['lines that end in CR LF', 'event: downstream\r\ndata: {"payload":1}\r\n\r\nevent: done\r\n\r\n'],
    ['lines that end in CR', 'event: downstream\rdata: {"payload":1}\r\revent: done\r\r'],
    ['data in two lines', 'event: downstream\ndata: {"payload":\ndata: 1}\n\nevent: done\n\n'],
    [
      'comments and other fields',
      ': hi\nid: 7\nevent: downstream\ndata: {"payload":1}\nretry\n\nevent: done\n\n',
    ],
    [
      'a name that is said twice: the last counts',
      'event: upstream\nevent: downstream\ndata: {"payload":1}\n\nevent: done\n\n',
    ],
    [
      'fields that only begin like ours, and have no colon',
      'event: downstream\neventx\ndata: {"payload":1}\ndatax\n\nevent: done\n\n',
    ],
    ['the data before the name', 'data: {"payload":1}\nevent: downstream\n\nevent: done\n\n'],
  ])('may be written with %s', (_what, text) => {
    expect(answerFromEventStream(text, ROUTE)).toEqual({ kind: 'frames', frames: [{ payload: '1' }] });
  });

  it('takes a field without a colon for an empty one', () => {
    const answer = answerFromEventStream('event: error\ndata: one\ndata\ndata: two\n\n', ROUTE);
    expect(answer.kind === 'fault' && answer.fault.message).toBe('one\n\ntwo');
  });

  it('keeps a line break within data', () => {
    const text = 'event: error\ndata: one\ndata: two\n\n';
    const answer = answerFromEventStream(text, ROUTE);
    expect(answer.kind === 'fault' && answer.fault.message).toBe('one\ntwo');
  });
});

describe('the header that rewrites the route', () => {
  it.each([
    ['a', ['a']],
    ['a,b', ['a', 'b']],
    [' a , b ', ['a', 'b']],
    ['', []],
    ['  ', []],
    ['a,', ['a', '']],
  ])('%j is %j', (value, next) => {
    expect(nextFromHeader(value)).toEqual(next);
  });
});
