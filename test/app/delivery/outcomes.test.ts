import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { anEnvelope, at, NOW } from '../../core/a-delivery.ts';
import { handling, httpAnswer, socketAnswer } from '../a-handling.ts';

const LAST = { route: { prev: ['fetch'], curr: 'score', next: [] } };
const SHIFTED = { prev: ['fetch', 'score'], curr: 'store', next: [] };
const UNSHIFTED = { prev: ['fetch'], curr: 'score', next: ['store'] };

/** The table of outcomes in SPEC.md, row by row. */
describe('one value', () => {
  it('goes to the next actor, with a status that names the actor that finished', async () => {
    const received = anEnvelope({
      parent_id: 'p-1',
      headers: { traceparent: '00-1-2-01' },
      status: { phase: 'pending', deadline_at: at(60_000) },
      kept: [1],
    });
    const { settle, hasHung, sends, calls, facts } = await handling({
      body: received,
      end: socketAnswer('{"m":2}'),
    });
    expect(sends).toEqual([
      {
        to: 'store',
        type: 'next',
        delayMs: 0,
        envelope: {
          id: 'e-1',
          parent_id: 'p-1',
          route: SHIFTED,
          headers: { traceparent: '00-1-2-01' },
          payload: { m: 2 },
          kept: [1],
          status: {
            phase: 'pending',
            actor: 'score',
            attempt: 1,
            created_at: at(0),
            updated_at: at(0),
            deadline_at: at(60_000),
          },
        },
      },
    ]);
    expect({ settle, hasHung, facts }).toEqual({ settle: 'ack', hasHung: false, facts: ['success'] });
    expect(calls).toEqual([{ payload: '{"n":1}', timeoutMs: 60_000 }]);
  });

  it('goes to x-sink at the end of the route, as succeeded', async () => {
    const { settle, sends, facts } = await handling({ body: anEnvelope(LAST), end: socketAnswer('2') });
    expect(sends).toMatchObject([
      {
        to: 'x-sink',
        envelope: {
          route: { prev: ['fetch', 'score'], curr: '', next: [] },
          payload: 2,
          status: { phase: 'succeeded', reason: 'Completed' },
        },
      },
    ]);
    expect({ settle, facts }).toEqual({ settle: 'ack', facts: ['success'] });
  });

  it.each(['0', 'false', '""', '{}', '{"error":"in the data"}'])('%s is a value', async (text) => {
    const { settle, sends, facts } = await handling({ end: socketAnswer(text) });
    expect(sends).toMatchObject([{ to: 'store', envelope: { payload: JSON.parse(text) } }]);
    expect({ settle, facts }).toEqual({ settle: 'ack', facts: ['success'] });
  });
});

describe('an array', () => {
  it('fans out: each item separately, with the same ids on every redelivery', async () => {
    const [first, again] = [
      await handling({ end: socketAnswer('[1,null,[3]]') }),
      await handling({ end: socketAnswer('[1,null,[3]]') }),
    ];
    expect(first.sends).toMatchObject([
      { to: 'store', envelope: { id: 'e-1', payload: 1, route: SHIFTED } },
      { to: 'store', envelope: { parent_id: 'e-1', payload: null, route: SHIFTED } },
      { to: 'store', envelope: { parent_id: 'e-1', payload: [3], route: SHIFTED } },
    ]);
    const ids = first.sends.map(({ envelope }) => envelope.id);
    expect(new Set(ids).size).toBe(3);
    expect(again.sends.map(({ envelope }) => envelope.id)).toEqual(ids);
    expect(first).toMatchObject({ settle: 'ack', facts: ['success'] });
  });

  it('fans out to x-sink at the end of the route', async () => {
    const { sends } = await handling({ body: anEnvelope(LAST), end: socketAnswer('[1,2]') });
    expect(sends).toMatchObject([
      { to: 'x-sink', envelope: { payload: 1, status: { phase: 'succeeded' } } },
      { to: 'x-sink', envelope: { payload: 2, status: { phase: 'succeeded' } } },
    ]);
  });

  it.each(['[1,2]', '[]'])('%s is one value with ASYA_FANOUT=never', async (text) => {
    const { sends } = await handling({ end: socketAnswer(text), actor: { fanOut: 'never' } });
    expect(sends).toMatchObject([{ to: 'store', envelope: { payload: JSON.parse(text) } }]);
  });
});

describe('no result', () => {
  it.each([
    ['null', socketAnswer('null')],
    ['[]', socketAnswer('[]')],
    ['HTTP 204', httpAnswer(204, '')],
  ])('(%s) ends at x-sink as succeeded, with the original payload and route', async (_what, end) => {
    const { settle, sends, facts } = await handling({ end });
    expect(sends).toMatchObject([
      {
        to: 'x-sink',
        envelope: {
          payload: { n: 1 },
          route: UNSHIFTED,
          status: { phase: 'succeeded', reason: 'Completed' },
        },
      },
    ]);
    expect({ settle, facts }).toEqual({ settle: 'ack', facts: ['empty_response'] });
  });
});

const ERROR = '{"error":"bad","type":"pkg.ValueError","message":"no","mro":["Exception"],"traceback":"at 1"}';

describe('an error', () => {
  it('without a policy goes to x-sink, with the original payload', async () => {
    const { settle, sends, facts, report } = await handling({ end: socketAnswer(ERROR) });
    expect(sends).toMatchObject([
      {
        to: 'x-sink',
        envelope: {
          payload: { n: 1 },
          route: UNSHIFTED,
          status: {
            phase: 'failed',
            reason: 'RuntimeError',
            error: { type: 'pkg.ValueError', message: 'no', mro: ['Exception'], traceback: 'at 1' },
          },
        },
      },
    ]);
    expect({ settle, facts }).toEqual({ settle: 'ack', facts: ['error', 'execution', 'runtime_error'] });
    expect(report.problem).toBe('pkg.ValueError: no');
  });

  it('with a policy goes back to its own queue with a delay', async () => {
    const { settle, sends, facts } = await handling({
      end: socketAnswer(ERROR),
      policies: { default: { maxAttempts: 3, initialDelay: '2s' } },
    });
    expect(sends).toMatchObject([
      {
        to: 'score',
        delayMs: 2_000,
        envelope: { route: UNSHIFTED, status: { phase: 'retrying', attempt: 1, max_attempts: 3 } },
      },
    ]);
    expect({ settle, facts }).toEqual({ settle: 'ack', facts: ['error', 'execution', 'retried'] });
  });

  it('with `_on_error` goes to that actor', async () => {
    const { settle, sends, facts } = await handling({
      body: anEnvelope({ headers: { _on_error: 'recover' } }),
      end: httpAnswer(503, 'busy'),
    });
    expect(sends).toMatchObject([
      {
        to: 'recover',
        envelope: {
          route: { prev: ['fetch', 'score'], curr: 'recover', next: [] },
          status: { phase: 'failed', reason: 'PolicyRouted' },
        },
      },
    ]);
    expect({ settle, facts }).toEqual({ settle: 'ack', facts: ['error', 'execution', 'policy_routed'] });
  });
});

describe('no answer', () => {
  const TIMEOUT: CallResult = { kind: 'timeout' };

  it('within the actor timeout goes to x-sink as ActorTimeout, and reports to the host that it hung', async () => {
    const { settle, hasHung, sends, calls, facts } = await handling({ end: TIMEOUT });
    expect(sends).toMatchObject([
      {
        to: 'x-sink',
        envelope: {
          payload: { n: 1 },
          status: { phase: 'failed', reason: 'ActorTimeout', error: { type: 'ActorTimeout' } },
        },
      },
    ]);
    expect(calls[0]?.timeoutMs).toBe(300_000);
    expect({ settle, hasHung, facts }).toEqual({
      settle: 'ack',
      hasHung: true,
      facts: ['error', 'timeout', 'timeout'],
    });
  });

  it('before a shorter deadline goes to x-sink as Timeout, without rules or `_on_error`', async () => {
    const { hasHung, sends, calls, facts } = await handling({
      body: anEnvelope({ headers: { _on_error: 'recover' }, status: { deadline_at: at(5_000) } }),
      end: TIMEOUT,
      rules: [{ errors: ['TimeoutError'], policy: 'noRetry' }],
    });
    expect(sends).toMatchObject([
      {
        to: 'x-sink',
        envelope: { status: { phase: 'failed', reason: 'Timeout', error: { type: 'DeadlineExceeded' } } },
      },
    ]);
    expect(calls[0]?.timeoutMs).toBe(5_000);
    expect({ hasHung, facts }).toEqual({ hasHung: true, facts: ['sla_expired', 'sla_timeout'] });
  });
});

describe('no connection, or an unreadable answer', () => {
  it.each([
    ['cannot connect', { kind: 'unreachable', detail: 'connection refused' } as const],
    ['not JSON', socketAnswer('oops')],
  ])('(%s) is a RuntimeConnectionError, retried by the built-in policy', async (_what, end) => {
    const { settle, sends, facts } = await handling({ end });
    expect(sends).toMatchObject([
      {
        to: 'score',
        delayMs: 1_000,
        envelope: {
          status: {
            phase: 'retrying',
            max_attempts: 5,
            error: { type: 'RuntimeConnectionError', mro: ['ConnectionError', 'Exception'] },
          },
        },
      },
    ]);
    expect({ settle, facts }).toEqual({ settle: 'ack', facts: ['error', 'connection', 'retried'] });
  });

  it('ends at x-sink as RuntimeError after the last attempt', async () => {
    const { sends } = await handling({
      body: anEnvelope({ status: { phase: 'retrying', actor: 'score', attempt: 4 } }),
      end: { kind: 'unreachable', detail: 'connection refused' },
    });
    expect(sends).toMatchObject([
      { to: 'x-sink', envelope: { status: { reason: 'RuntimeError', attempt: 5 } } },
    ]);
  });
});

describe('an interrupted call', () => {
  it('is resent unchanged', async () => {
    const received = anEnvelope({ status: { phase: 'retrying', actor: 'score', attempt: 2 }, kept: true });
    const { settle, hasHung, sends, facts } = await handling({
      body: received,
      end: { kind: 'interrupted' },
    });
    expect(sends).toEqual([
      { to: 'score', type: 'again', delayMs: 0, envelope: { headers: {}, ...received } },
    ]);
    expect({ settle, hasHung, facts }).toEqual({ settle: 'ack', hasHung: false, facts: ['returned'] });
  });
});

describe('a result that is too large for the transport', () => {
  it('ends at x-sink as PayloadTooLarge, with the original payload', async () => {
    const { settle, sends } = await handling({
      end: socketAnswer(`"${'x'.repeat(2_000)}"`),
      limits: { maxBodyBytes: 1_000 },
    });
    expect(sends).toMatchObject([
      {
        to: 'x-sink',
        envelope: {
          payload: { n: 1 },
          status: { phase: 'failed', reason: 'RuntimeError', error: { type: 'PayloadTooLarge' } },
        },
      },
    ]);
    expect(settle).toBe('ack');
  });
});

describe('without a call', () => {
  it.each([
    ['not JSON', '{"id":"e-1"', 'ParseError', 'parse_error'],
    ['not an envelope', '{"id":"e-1"}', 'ValidationError', 'validation_error'],
    [
      'for another actor',
      JSON.stringify(anEnvelope({ route: { prev: [], curr: 'other', next: [] } })),
      'RouteMismatch',
      'route_mismatch',
    ],
    [
      'over its hop limit',
      JSON.stringify(anEnvelope({ route: { prev: Array(100).fill('a'), curr: 'score', next: [] } })),
      'RuntimeError',
      'runtime_error',
    ],
  ])('an envelope that is %s goes to x-sink as %s %s', async (_what, body, reason, failed) => {
    const { settle, sends, calls, facts } = await handling({ body });
    expect(sends).toMatchObject([{ to: 'x-sink', envelope: { status: { phase: 'failed', reason } } }]);
    expect({ settle, calls, facts }).toEqual({ settle: 'ack', calls: [], facts: [failed] });
  });

  it('keeps all bytes of a body that is not UTF-8', async () => {
    const { sends, calls } = await handling({ body: Uint8Array.of(0xff, 0x00) });
    expect(sends).toMatchObject([{ to: 'x-sink', envelope: { payload: { raw_base64: '/wA=' } } }]);
    expect(calls).toEqual([]);
  });

  it('an envelope past its deadline goes to x-sink as Timeout', async () => {
    const { sends, calls, facts } = await handling({
      body: anEnvelope({ status: { deadline_at: at(999) } }),
    });
    expect(sends).toMatchObject([{ to: 'x-sink', envelope: { status: { reason: 'Timeout' } } }]);
    expect({ calls, facts }).toEqual({ calls: [], facts: ['sla_expired', 'sla_timeout'] });
  });

  it('an envelope that is not due is resent with the longest possible delay', async () => {
    const due = (milliseconds: number) => anEnvelope({ headers: { 'x-asya-not-before': at(milliseconds) } });
    const [soon, late] = [await handling({ body: due(5_000) }), await handling({ body: due(5_000_000) })];
    expect(soon.sends).toMatchObject([{ to: 'score', delayMs: 5_000, envelope: due(5_000) }]);
    expect(late.sends).toMatchObject([{ to: 'score', delayMs: 900_000, envelope: due(5_000_000) }]);
    expect([soon.calls, late.calls]).toEqual([[], []]);
    expect(soon).toMatchObject({ settle: 'ack', facts: ['deferred'] });
  });

  it('resends an envelope unchanged if the host has no time for it', async () => {
    const { settle, sends, calls, facts } = await handling({ timeLeftMs: 299_999 });
    expect(sends).toMatchObject([{ to: 'score', delayMs: 0, envelope: anEnvelope() }]);
    expect({ settle, calls, facts }).toEqual({ settle: 'ack', calls: [], facts: ['returned'] });
  });

  it('a canceled envelope goes to x-sink unchanged', async () => {
    const received = anEnvelope({ status: { phase: 'canceled', actor: 'fetch' } });
    const { sends, calls } = await handling({ body: received });
    expect(sends).toMatchObject([{ to: 'x-sink', envelope: received }]);
    expect(calls).toEqual([]);
  });
});

describe('an end actor', () => {
  const END = { isEnd: true, name: 'x-sink' };

  it.each(['{"any":1}', '[1,2]', 'null'])('discards the answer %s, and acknowledges', async (text) => {
    const { settle, sends, facts } = await handling({ end: socketAnswer(text), actor: END });
    expect({ settle, sends, facts }).toEqual({ settle: 'ack', sends: [], facts: ['end_consumed'] });
  });

  it.each<[string, CallResult, string]>([
    ['an error', { kind: 'fault', fault: { type: 'E', mro: [], message: '', traceback: '' } }, 'execution'],
    ['no connection', { kind: 'unreachable', detail: 'gone' }, 'connection'],
    ['a timeout', { kind: 'timeout' }, 'timeout'],
  ])('does not acknowledge after %s', async (_what, end, errorType) => {
    const { settle, sends, facts } = await handling({ end, actor: END });
    expect({ settle, sends, facts }).toEqual({ settle: 'release', sends: [], facts: ['error', errorType] });
  });

  it('does not acknowledge a body that it cannot decode', async () => {
    const { settle, sends, calls } = await handling({ body: 'oops', actor: END });
    expect({ settle, sends, calls }).toEqual({ settle: 'release', sends: [], calls: [] });
  });
});

describe('the clock', () => {
  it('is read on arrival and after the call, and the decision uses the second reading', async () => {
    let now = NOW;
    const { sends } = await handling({
      clock: { now: () => now, sleep: () => Promise.resolve() },
      end: () => {
        now += 4_000;
        return { kind: 'empty' };
      },
    });
    expect(sends[0]?.envelope.status).toMatchObject({ created_at: at(0), updated_at: at(4_000) });
  });
});
