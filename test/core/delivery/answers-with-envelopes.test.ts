import { describe, expect, it } from 'vitest';
import {
  answerFromEventStream,
  answerFromFrames,
  answerFromFramesOverHttp,
  nextFromHeader,
} from '../../../lib/core/delivery/answer-envelope.ts';

const ROUTE = { prev: ['fetch'], curr: 'score', next: ['store', 'notify'] };
const UNREADABLE = "the runtime's answer cannot be read: ";

function framed(...frames: readonly unknown[]): string {
  return JSON.stringify({ frames });
}

describe('frames', () => {
  it('are values that keep their bytes', () => {
    expect(
      answerFromFrames('{"frames":[ {"payload": 9007199254740993 }, {"payload":{ "a":1 }} ]}', ROUTE),
    ).toEqual({
      kind: 'frames',
      frames: [{ payload: '9007199254740993' }, { payload: '{ "a":1 }' }],
    });
  });

  it('accept any payload', () => {
    expect(answerFromFrames(framed({ payload: null }, { payload: [] }, { payload: false }), ROUTE)).toEqual({
      kind: 'frames',
      frames: [{ payload: 'null' }, { payload: '[]' }, { payload: 'false' }],
    });
  });

  it.each([['{"frames":[]}'], ['{"frames":[ ]}'], ['null']])('%s is empty', (text) => {
    expect(answerFromFrames(text, ROUTE)).toEqual({ kind: 'empty' });
  });

  it.each([
    ['not advanced: next', { prev: ['fetch'], curr: 'score', next: ['a', 'b'] }, ['a', 'b']],
    ['not advanced, at the end', { prev: ['fetch'], curr: 'score', next: [] }, []],
    ['advanced: curr and next', { prev: ['fetch', 'score'], curr: 'a', next: ['b'] }, ['a', 'b']],
    ['advanced to the end', { prev: ['fetch', 'score'], curr: '', next: [] }, []],
    ['without prev', { prev: [], curr: 'score', next: ['a'] }, ['a']],
  ])('return the rest of the route, %s', (_what, route, next) => {
    expect(answerFromFrames(framed({ payload: 1, route }), ROUTE)).toEqual({
      kind: 'frames',
      frames: [{ payload: '1', next }],
    });
  });

  it('accept headers, which keep their bytes', () => {
    expect(answerFromFrames('{"frames":[{"payload":1,"headers":{"a": [ 1 ]}}]}', ROUTE)).toEqual({
      kind: 'frames',
      frames: [{ payload: '1', headers: new Map([['a', '[ 1 ]']]) }],
    });
  });

  it('have no route or headers if the answer has none', () => {
    expect(answerFromFrames(framed({ payload: 1 }), ROUTE)).toStrictEqual({
      kind: 'frames',
      frames: [{ payload: '1' }],
    });
  });

  it('treat headers of null as absent', () => {
    expect(answerFromFrames(framed({ payload: 1, headers: null }), ROUTE)).toEqual({
      kind: 'frames',
      frames: [{ payload: '1' }],
    });
  });

  it.each([
    ['a frame that is text', framed('x'), 'frame 0 is not an object'],
    ['a frame that is a list', framed([1]), 'frame 0 is not an object'],
    ['a second frame without a payload', framed({ payload: 1 }, { headers: {} }), 'frame 1 has no payload'],
    [
      'headers that are text',
      framed({ payload: 1, headers: 'x' }),
      'frame 0 has headers that are not an object',
    ],
    [
      'headers that are a list',
      framed({ payload: 1, headers: [] }),
      'frame 0 has headers that are not an object',
    ],
    [
      'a route that is null',
      framed({ payload: 1, route: null }),
      'frame 0 has a route without prev, curr and next',
    ],
    [
      'a route that is text',
      framed({ payload: 1, route: 'x' }),
      'frame 0 has a route without prev, curr and next',
    ],
    ['no prev', framed({ payload: 1, route: { curr: 'a', next: [] } }), 'frame 0 has a route without prev'],
    ['no curr', framed({ payload: 1, route: { prev: [], next: [] } }), 'frame 0 has a route without prev'],
    ['no next', framed({ payload: 1, route: { prev: [], curr: 'a' } }), 'frame 0 has a route without prev'],
    ['frames that are text', '{"frames":"x"}', 'expected {"frames":[...]}, null or an error object'],
    ['a value', '{"a":1}', 'expected {"frames":[...]}'],
    ['a list', '[1]', 'expected {"frames":[...]}'],
    ['an empty list', '[]', 'expected {"frames":[...]}'],
    ['a number', '7', 'expected {"frames":[...]}'],
  ])('are rejected: %s', (_what, text, detail) => {
    const answer = answerFromFrames(text, ROUTE);
    expect(answer.kind).toBe('unreachable');
    expect(answer.kind === 'unreachable' && answer.detail).toContain(`${UNREADABLE}${detail}`);
  });

  it('are rejected if a route is nested too deeply', () => {
    const deep = `${'{"a":'.repeat(64)}{"a":1}${'}'.repeat(64)}`;
    const answer = answerFromFrames(`{"frames":[{"payload":1,"route":${deep}}]}`, ROUTE);
    expect(answer.kind === 'unreachable' && answer.detail).toContain('frame 0 has a route without prev');
  });

  it('that are not JSON count as unreachable', () => {
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

  it('are empty for a 204', () => {
    expect(answerFromFramesOverHttp({ status: 204, text: '' }, ROUTE)).toEqual({ kind: 'empty' });
  });

  it.each([400, 500])('are an error for a %d', (status) => {
    const answer = answerFromFramesOverHttp({ status, text: framed({ payload: 1 }), retryAfter: '7' }, ROUTE);
    expect(answer).toMatchObject({
      kind: 'fault',
      fault: { type: 'HTTPError', httpStatus: status, retryAfter: '7' },
    });
  });

  it('treat an error object in a 200 as an error', () => {
    const text = '{"error":"e","message":"m","type":"T"}';
    expect(answerFromFramesOverHttp({ status: 200, text }, ROUTE).kind).toBe('fault');
  });
});

describe('an event stream', () => {
  const stream = (...events: readonly (readonly [string, string])[]) =>
    events.map(([name, data]) => `event: ${name}\ndata: ${data}\n\n`).join('');

  it('returns the frames of downstream events', () => {
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

  it('is empty if it is done without frames', () => {
    expect(answerFromEventStream(stream(['done', '{}']), ROUTE)).toEqual({ kind: 'empty' });
  });

  it.each([
    ['an empty stream', ''],
    ['frames only', stream(['downstream', '{"payload":1}'])],
    ['done without a blank line after it', 'event: done\ndata: {}\n'],
    ['an event with another name', stream(['finished', '{}'])],
    ['an event without a name', 'data: done\n\n'],
    ['done as data of another event', stream(['downstream', '{"payload":"done"}'])],
  ])('fails without done: %s', (_what, text) => {
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
  ])('returns an error event as an error: %s', (_what, text) => {
    expect(answerFromEventStream(text, ROUTE)).toEqual({
      kind: 'fault',
      fault: { type: 'T', mro: [], message: 'm', traceback: '' },
    });
  });

  it.each(['boom', '"boom"', '[1]'])(
    'returns an error event that is not an object as an error: %s',
    (data) => {
      expect(answerFromEventStream(stream(['error', data]), ROUTE)).toEqual({
        kind: 'fault',
        fault: { type: 'StreamError', mro: ['Exception'], message: data, traceback: '' },
      });
    },
  );

  it('is rejected if a frame is invalid', () => {
    const text = stream(['downstream', '{"payload":1}'], ['downstream', '{}'], ['done', '']);
    expect(answerFromEventStream(text, ROUTE)).toEqual({
      kind: 'unreachable',
      detail: `${UNREADABLE}frame 1 has no payload`,
    });
  });

  it.each([
    ['no space after the colon', 'event:downstream\ndata:{"payload":1}\n\nevent:done\n\n'],
    [
      'two spaces after the colon; the first is removed',
      'event: downstream\ndata:  {"payload":1}\n\nevent: done\n\n',
    ],
    ['lines that end in CR LF', 'event: downstream\r\ndata: {"payload":1}\r\n\r\nevent: done\r\n\r\n'],
    ['lines that end in CR', 'event: downstream\rdata: {"payload":1}\r\revent: done\r\r'],
    ['data in two lines', 'event: downstream\ndata: {"payload":\ndata: 1}\n\nevent: done\n\n'],
    [
      'comments and other fields',
      ': hi\nid: 7\nevent: downstream\ndata: {"payload":1}\nretry\n\nevent: done\n\n',
    ],
    [
      'two names; the last one counts',
      'event: upstream\nevent: downstream\ndata: {"payload":1}\n\nevent: done\n\n',
    ],
    [
      'fields with longer names and without a colon',
      'event: downstream\neventx\ndata: {"payload":1}\ndatax\n\nevent: done\n\n',
    ],
    ['data before the name', 'data: {"payload":1}\nevent: downstream\n\nevent: done\n\n'],
  ])('accepts %s', (_what, text) => {
    expect(answerFromEventStream(text, ROUTE)).toEqual({ kind: 'frames', frames: [{ payload: '1' }] });
  });

  it('treats a field without a colon as empty', () => {
    const answer = answerFromEventStream('event: error\ndata: one\ndata\ndata: two\n\n', ROUTE);
    expect(answer.kind === 'fault' && answer.fault.message).toBe('one\n\ntwo');
  });

  it('keeps a line break in data', () => {
    const text = 'event: error\ndata: one\ndata: two\n\n';
    const answer = answerFromEventStream(text, ROUTE);
    expect(answer.kind === 'fault' && answer.fault.message).toBe('one\ntwo');
  });
});

describe('nextFromHeader', () => {
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
