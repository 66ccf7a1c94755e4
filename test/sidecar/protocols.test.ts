import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Arrived, envelopeAt, TRACEPARENT, TRACESTATE, type Wire } from './envelopes.ts';
import { freePort } from './free-port.ts';
import { nodeRuntime, pythonRuntime } from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';

/** SPEC.md section 7 end to end, beyond plain frames: HTTP over TCP and over a socket, and the envelope protocol. */

const ALLOWED = { ASYA_ROUTE_ALLOW: 'store,notify' };

let stage: Stage;
beforeAll(async () => {
  stage = await setStage('x-sink', 'store', 'notify', 'elsewhere');
  const polite = JSON.stringify({ default: { maxAttempts: 2, backoff: 'constant' } });
  await Promise.all([
    stage.sidecar('web-py', {
      ...ALLOWED,
      ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.rewrite'),
      ASYA_RUNTIME_URL: `http://127.0.0.1:${await freePort()}/invoke`,
      ASYA_RESILIENCY_POLICIES: polite,
    }),
    stage.sidecar('web-js', {
      ...ALLOWED,
      ASYA_RUNTIME_COMMAND: nodeRuntime('behaviours.ts.rewrite'),
      ASYA_RUNTIME_URL: `http+unix:${stage.folder}/web.sock:/invoke`,
      ASYA_RESILIENCY_POLICIES: polite,
    }),
    stage.sidecar('whole-py', {
      ...ALLOWED,
      ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.tamper'),
      ASYA_RUNTIME_PROTOCOL: 'envelope',
    }),
    stage.sidecar('whole-js', {
      ...ALLOWED,
      ASYA_RUNTIME_COMMAND: nodeRuntime('behaviours.ts.tamper'),
      ASYA_RUNTIME_PROTOCOL: 'envelope',
      ASYA_RUNTIME_URL: `http+unix:${stage.folder}/whole.sock:/invoke`,
    }),
  ]);
});
afterAll(() => stage.close());

async function outcomeOf(envelope: Wire, queue = 'x-sink'): Promise<Arrived> {
  await stage.send(envelope);
  const arrived = await stage.inbox.next(queue, envelope.id);
  expect(arrived.headers).toMatchObject({ traceparent: TRACEPARENT, tracestate: TRACESTATE });
  return arrived;
}

const through = (curr: string, ...next: string[]) => ({ prev: ['fetch'], curr, next });

describe.each([
  ['Python over TCP', 'web-py'],
  ['Node over a socket', 'web-js'],
])('HTTP: %s', (_what, actor) => {
  test('passes the id, the attempt, the deadline and the trace to the runtime', async () => {
    const deadline = new Date(Date.now() + 60_000).toISOString();
    const envelope = envelopeAt(actor, {}, { status: { deadline_at: deadline } });
    const arrived = await outcomeOf(envelope);
    expect(arrived.payload).toEqual({
      envelope_id: envelope.id,
      attempt: 1,
      deadline,
      traceparent: TRACEPARENT,
    });
  });

  test('lets a handler rewrite route.next', async () => {
    const envelope = envelopeAt(actor, { next: ['store', 'notify'] }, { route: through(actor, 'elsewhere') });
    const arrived = await outcomeOf(envelope, 'store');
    expect(arrived.route).toEqual({ prev: ['fetch', actor], curr: 'store', next: ['notify'] });
  });

  test('lets a handler end the route', async () => {
    const arrived = await outcomeOf(envelopeAt(actor, { next: [] }, { route: through(actor, 'elsewhere') }));
    expect(arrived).toMatchObject({
      route: { prev: ['fetch', actor], curr: '', next: [] },
      status: { phase: 'succeeded' },
    });
  });

  test.each([
    ['an actor that is not allowed', ['elsewhere'], /"elsewhere"; ASYA_ROUTE_ALLOW allows /],
    ['a reserved name', ['store', 'x-sump'], /"x-sump"; names that start with "x-" are reserved/],
    ['an invalid name', ['Store'], /"Store"/],
  ])('fails an envelope whose handler sets route.next to %s', async (_what, next, problem) => {
    const envelope = envelopeAt(actor, { next }, { route: through(actor, 'store') });
    const arrived = await outcomeOf(envelope);
    expect(arrived).toMatchObject({
      route: envelope.route,
      payload: envelope.payload,
      status: { phase: 'failed', reason: 'ValidationError', error: { type: 'ValidationError' } },
    });
    expect(arrived.status?.error?.message).toMatch(problem);
  });

  test('ends the route as succeeded for status 204', async () => {
    const envelope = envelopeAt(actor, { do: 'empty' }, { route: through(actor, 'store') });
    const arrived = await outcomeOf(envelope);
    expect(arrived).toMatchObject({
      route: envelope.route,
      payload: envelope.payload,
      status: { phase: 'succeeded' },
    });
  });

  test('retries an error after its retry_after, and counts the attempts', async () => {
    const sentAt = Date.now();
    const payload = { error: 'ThrottledError', status_code: 429, retry_after: 1 };
    const arrived = await outcomeOf(envelopeAt(actor, payload));
    expect(arrived.arrivedAt - sentAt).toBeGreaterThanOrEqual(1_000);
    expect(arrived.status).toMatchObject({ phase: 'failed', reason: 'PolicyExhausted', attempt: 2 });
    expect(arrived.status?.error?.type).toMatch(/ThrottledError$/);
  });
});

describe.each([
  ['Python over frames', 'whole-py'],
  ['Node over HTTP', 'whole-js'],
])('the envelope protocol: %s', (_what, actor) => {
  test("lets a handler change its own headers and route.next, but not the sidecar's fields", async () => {
    const envelope = envelopeAt(
      actor,
      { next: ['store'] },
      {
        parent_id: 'parent',
        route: through(actor, 'elsewhere'),
        headers: { colour: 'blue', shape: 'round', 'x-asya-task': 'task' },
      },
    );
    const arrived = await outcomeOf(envelope, 'store');
    expect(arrived).toMatchObject({
      id: envelope.id,
      parent_id: 'parent',
      route: { prev: ['fetch', actor], curr: 'store', next: [] },
      payload: 'tampered',
      status: { phase: 'pending', actor, attempt: 1 },
    });
    expect(arrived.headers).toEqual({
      traceparent: TRACEPARENT,
      tracestate: TRACESTATE,
      'x-asya-task': 'task',
      colour: 'red',
    });
  });

  test('fails a route rewrite that is not allowed', async () => {
    const arrived = await outcomeOf(envelopeAt(actor, { next: ['elsewhere'] }));
    expect(arrived.status).toMatchObject({ phase: 'failed', reason: 'ValidationError' });
  });
});
