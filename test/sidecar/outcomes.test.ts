import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Arrived, envelopeAt, TRACEPARENT, TRACESTATE, type Wire } from './envelopes.ts';
import { nodeRuntime, pythonRuntime, type RunningProcess, until } from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';

/** SPEC.md section 3 end to end: a real sidecar with a real runtime. */

/** Derived from the broker's message id: a UUID of version 8. */
const DERIVED_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let stage: Stage;
let archive: RunningProcess;

const TABLE = [
  ['Python', 'score-py', pythonRuntime('behaviours.handle')],
  ['Node', 'score-js', nodeRuntime('behaviours.ts.handle')],
] as const;

beforeAll(async () => {
  stage = await setStage('x-sink', 'store');
  const inPython = { ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle') };
  const started = await Promise.all([
    stage.sidecar('archive', { ...inPython, ASYA_IS_END_ACTOR: 'true', ASYA_LOG_LEVEL: 'debug' }),
    stage.sidecar('whole', { ...inPython, ASYA_FANOUT: 'never' }),
    ...TABLE.map(([_language, actor, command]) =>
      stage.sidecar(actor, { ASYA_RUNTIME_COMMAND: command, ASYA_MAX_HOPS: '3' }),
    ),
  ]);
  archive = started[0];
});
afterAll(() => stage.close());

/** Sends an envelope and returns the one that arrives. Checks that its trace headers are unchanged. */
async function outcomeOf(envelope: Wire, queue = 'x-sink'): Promise<Arrived> {
  await stage.send(envelope);
  const arrived = await stage.inbox.next(queue, envelope.id);
  expect(arrived.headers).toMatchObject({ traceparent: TRACEPARENT, tracestate: TRACESTATE });
  return arrived;
}

function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString();
}

describe.each(TABLE)('with a runtime in %s', (_language, actor) => {
  const valued = (value: unknown, more: Partial<Wire> = {}) =>
    envelopeAt(actor, { do: 'value', value }, more);

  test('sends a value to the next actor and advances the route', async () => {
    const route = { prev: ['fetch'], curr: actor, next: ['store', 'notify'] };
    const deadline = inSeconds(60);
    const envelope = valued(
      { n: 1 },
      { route, parent_id: 'parent', status: { deadline_at: deadline }, team: { is: 'kept' } },
    );
    const arrived = await outcomeOf(envelope, 'store');
    expect(arrived).toMatchObject({
      parent_id: 'parent',
      route: { prev: ['fetch', actor], curr: 'store', next: ['notify'] },
      payload: { n: 1 },
      status: { phase: 'pending', actor, attempt: 1 },
      team: { is: 'kept' },
    });
    expect(arrived.status?.deadline_at).toBe(deadline);
    expect(arrived.status).not.toHaveProperty('reason');
    expect(arrived.status).not.toHaveProperty('error');
  });

  test.each([[0], [false], [''], [{}], [{ error: 'no error object' }]])(
    'treats %j as a value',
    async (value) => {
      const arrived = await outcomeOf(valued(value));
      expect(arrived.payload).toEqual(value);
      expect(arrived).toMatchObject({
        route: { prev: [actor], curr: '', next: [] },
        status: { phase: 'succeeded', reason: 'Completed', actor },
      });
    },
  );

  test('fans out an array: item 0 keeps the id, the others get derived ids', async () => {
    const envelope = valued([{ k: 0 }, [1], null], { route: { prev: [], curr: actor, next: ['store'] } });
    const first = await outcomeOf(envelope, 'store');
    expect(first.payload).toEqual({ k: 0 });
    expect(first).not.toHaveProperty('parent_id');
    const isChild = ({ parent_id }: Arrived) => parent_id === envelope.id;
    const children = [
      await stage.inbox.nextWhere('store', isChild, 'a child'),
      await stage.inbox.nextWhere('store', isChild, 'another child'),
    ];
    expect(children.map(({ payload }) => payload)).toEqual(expect.arrayContaining([[1], null]));
    expect(new Set([envelope.id, ...children.map(({ id }) => id)]).size).toBe(3);
    for (const child of children) {
      expect(child.route).toEqual({ prev: [actor], curr: 'store', next: [] });
      expect(child.headers).toMatchObject({ traceparent: TRACEPARENT });
    }
  });

  test('fans out each yield of a generator', async () => {
    const envelope = envelopeAt(actor, { do: 'yield', items: ['a', 'b'] });
    expect((await outcomeOf(envelope)).payload).toBe('a');
    const isChild = ({ parent_id }: Arrived) => parent_id === envelope.id;
    expect((await stage.inbox.nextWhere('x-sink', isChild, 'a child')).payload).toBe('b');
  });

  test('derives the same ids when the envelope is redelivered', async () => {
    const childrenOf = async () => {
      const envelope = valued([1, 2], { id: 'twice-'.concat(actor) });
      await outcomeOf(envelope);
      return stage.inbox.nextWhere('x-sink', ({ parent_id }) => parent_id === envelope.id, 'the child');
    };
    expect((await childrenOf()).id).toBe((await childrenOf()).id);
  });

  test.each([[null], [[]]])(
    'ends the route as succeeded for %j, with the original payload',
    async (value) => {
      const route = { prev: ['fetch'], curr: actor, next: ['store'] };
      const arrived = await outcomeOf(valued(value, { route }));
      expect(arrived).toMatchObject({
        route,
        payload: { do: 'value', value },
        status: { phase: 'succeeded', reason: 'Completed', actor },
      });
    },
  );

  test('fails at once without a policy, with message and traceback', async () => {
    const envelope = envelopeAt(actor, { do: 'raise', error: 'SlowDownError', message: 'overloaded' });
    const { status, payload, route } = await outcomeOf(envelope);
    expect(payload).toEqual(envelope.payload);
    expect(route).toEqual(envelope.route);
    expect(status).toMatchObject({ phase: 'failed', reason: 'RuntimeError', actor, attempt: 1 });
    const { type = '', mro = [], message, traceback } = status?.error ?? {};
    expect(type).toMatch(/(^|\.)SlowDownError$/);
    expect(mro.map((name) => name.split('.').at(-1))).toEqual(
      expect.arrayContaining(['ThrottledError', 'Exception']),
    );
    expect(message).toBe('overloaded');
    expect(traceback).toContain('behaviours');
  });

  test('keeps the bytes of the payload in a failure', async () => {
    const payload = `{"do":"raise","error":"ValueError","n":12345678901234567890,"twice":1,"twice": 2.50}`;
    const { id, route } = envelopeAt(actor, null);
    await stage.sqs.send(
      actor,
      `{"id":"${id}","route":${JSON.stringify(route)},"headers":{},"payload":${payload}}`,
    );
    const arrived = await stage.inbox.next('x-sink', id);
    expect(arrived.body).toContain(`"payload":${payload}`);
    expect(arrived.status?.reason).toBe('RuntimeError');
  });

  test.each([
    ['not JSON', '{"id":"a"', 'ParseError', /unexpected end of text at line 1, column \d+/],
    ['not an object', '[1]', 'ValidationError', /the body is an array; expected an object/],
    [
      'without a payload',
      '{"id":"no-payload","route":{"prev":[],"curr":"a","next":[]}}',
      'ValidationError',
      /payload is missing/,
    ],
  ])('fails a body that is %s, and keeps the body', async (_what, body, reason, problem) => {
    const text = body.replace('{"id":"', `{"id":"${actor}-`);
    await stage.sqs.send(actor, text);
    const isIt = ({ payload }: Arrived) => (payload as { raw?: string }).raw === text;
    const arrived = await stage.inbox.nextWhere('x-sink', isIt, 'the unreadable message');
    expect(arrived).toMatchObject({
      route: { prev: [], curr: actor, next: [] },
      status: { phase: 'failed', reason, actor, error: { type: reason } },
    });
    expect(arrived.status?.error?.message).toMatch(problem);
    expect(arrived.id).toMatch(text.includes('no-payload') ? `${actor}-no-payload` : DERIVED_ID);
  });

  test('fails an envelope for another actor', async () => {
    const route = { prev: [], curr: 'somebody-else', next: [] };
    const { id } = envelopeAt(actor, null);
    await stage.sqs.send(actor, JSON.stringify(envelopeAt(actor, { do: 'value', value: 1 }, { id, route })));
    const arrived = await stage.inbox.next('x-sink', id);
    expect(arrived).toMatchObject({
      route,
      payload: { do: 'value', value: 1 },
      status: { phase: 'failed', reason: 'RouteMismatch', error: { type: 'RouteMismatch' } },
    });
  });

  test('sends a canceled envelope to x-sink unchanged, without a call', async () => {
    const counter = `${stage.folder}/${randomUUID()}`;
    const status = { phase: 'canceled', actor: 'fetch', attempt: 2 };
    const envelope = envelopeAt(actor, { do: 'value', value: 1, counter }, { status });
    const { body: _body, arrivedAt: _arrivedAt, ...arrived } = await outcomeOf(envelope);
    expect(arrived).toEqual(envelope);
    expect(existsSync(counter)).toBe(false);
  });

  test('fails an envelope that exceeds the hop budget', async () => {
    const counter = `${stage.folder}/${randomUUID()}`;
    const route = { prev: ['a', 'b', 'a'], curr: actor, next: ['store'] };
    const arrived = await outcomeOf(envelopeAt(actor, { do: 'value', value: 1, counter }, { route }));
    expect(arrived).toMatchObject({
      route,
      status: { phase: 'failed', reason: 'RuntimeError', error: { type: 'HopBudgetExceeded' } },
    });
    expect(existsSync(counter)).toBe(false);
  });

  test.each([
    ['has passed', -5],
    ['is less than 1 s away', 0.9],
  ])('fails an envelope whose deadline %s, without a call', async (_what, seconds) => {
    const counter = `${stage.folder}/${randomUUID()}`;
    const status = { deadline_at: inSeconds(seconds) };
    const arrived = await outcomeOf(envelopeAt(actor, { do: 'value', value: 1, counter }, { status }));
    expect(arrived.status).toMatchObject({
      phase: 'failed',
      reason: 'Timeout',
      error: { type: 'DeadlineExceeded' },
      ...status,
    });
    expect(existsSync(counter)).toBe(false);
  });

  test('delays an envelope that is not due yet, without counting an attempt', async () => {
    const sentAt = Date.now();
    const arrived = await outcomeOf(valued(7, { headers: { 'x-asya-not-before': inSeconds(1.2) } }));
    expect(arrived.arrivedAt - sentAt).toBeGreaterThanOrEqual(1_200);
    expect(arrived).toMatchObject({ payload: 7, status: { phase: 'succeeded', attempt: 1 } });
    expect(arrived.headers).not.toHaveProperty('x-asya-not-before');
  });

  test('fails a result that is too big for SQS, with the original payload', async () => {
    const payload = { do: 'big', bytes: 1024 * 1024 };
    const arrived = await outcomeOf(envelopeAt(actor, payload));
    expect(arrived).toMatchObject({
      payload,
      status: { phase: 'failed', reason: 'RuntimeError', error: { type: 'PayloadTooLarge' } },
    });
  });

  test('sends a result that just fits', async () => {
    const bytes = 1024 * 1024 - 2_000;
    const arrived = await outcomeOf(envelopeAt(actor, { do: 'big', bytes }));
    expect(arrived.status?.phase).toBe('succeeded');
    expect(String(arrived.payload).length).toBe(bytes);
  });

  test('measures a payload in bytes, not in characters', async () => {
    const payload = { do: 'big', bytes: 400_000, with: '€' };
    const arrived = await outcomeOf(envelopeAt(actor, payload));
    expect(arrived.status?.error?.type).toBe('PayloadTooLarge');
  });

  test('reads the older route shape and writes the new one', async () => {
    const envelope = envelopeAt(actor, { do: 'value', value: 1 });
    const route = { actors: ['fetch', actor, 'store'], current: 1 };
    await stage.sqs.send(actor, JSON.stringify({ ...envelope, route }));
    const arrived = await stage.inbox.next('store', envelope.id);
    expect(arrived.route).toEqual({ prev: ['fetch', actor], curr: 'store', next: [] });
  });
});

test('treats every array as one value with ASYA_FANOUT=never', async () => {
  for (const value of [[], [1, 2], [[]]]) {
    const arrived = await outcomeOf(envelopeAt('whole', { do: 'value', value }));
    expect(arrived).toMatchObject({
      payload: value,
      status: { phase: 'succeeded' },
      route: { prev: ['whole'] },
    });
  }
});

describe('an end actor', () => {
  const deliveryOf = (id: string) =>
    archive.untilLine((line) => line['message'] === 'delivery' && line['envelopeId'] === id);

  test('accepts any route and status, and sends nothing', async () => {
    const counter = `${stage.folder}/${randomUUID()}`;
    const envelope = envelopeAt(
      'archive',
      { value: [1, 2], counter },
      {
        route: { prev: [], curr: '', next: [] },
        status: { phase: 'canceled', deadline_at: inSeconds(-60) },
      },
    );
    await stage.sqs.send('archive', JSON.stringify(envelope));
    expect(await deliveryOf(envelope.id)).toMatchObject({ settle: 'ack', outcome: 'end_consumed' });
    await until(async () => (await stage.sqs.counts('archive')).hidden === 0, 'the ack');
    expect(existsSync(counter)).toBe(true);
    expect(await stage.inbox.rest('x-sink')).not.toContainEqual(expect.objectContaining({ id: envelope.id }));
  });

  test('releases a delivery after a runtime error', async () => {
    const envelope = envelopeAt('archive', { do: 'raise', error: 'ValueError' });
    await stage.send(envelope);
    expect(await deliveryOf(envelope.id)).toMatchObject({ settle: 'release', outcome: 'error' });
    await archive.untilLine((line) => line['message'] === 'released');
    expect(await stage.sqs.counts('archive')).toMatchObject({ visible: 0, hidden: 1 });
  });

  test('releases a delivery that it cannot read', async () => {
    await stage.sqs.send('archive', 'not JSON');
    await archive.untilLine((line) => line['message'] === 'delivery' && line['failed'] === 'parse_error');
    await until(async () => (await stage.sqs.counts('archive')).hidden === 2, 'both are hidden');
    expect(await stage.inbox.rest('x-sink')).toEqual([]);
  });
});
