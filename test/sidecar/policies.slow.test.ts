import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Arrived, envelopeAt, TRACEPARENT, TRACESTATE, type Wire } from './envelopes.ts';
import { nodeRuntime, pythonRuntime } from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';
import { testIn } from './test-in.ts';

/** SPEC.md sections 4 and 5 from outside: what becomes of an error, a timeout and a lost runtime. */

const POLICIES = {
  slow: { maxAttempts: 3, backoff: 'constant', initialDelay: '300ms' },
  quick: { maxAttempts: 2 },
  polite: { maxAttempts: 2, backoff: 'constant' },
  routed: { onExhausted: ['mend', 'tell'] },
  loud: { onExhausted: { action: 'escalate', topic: 'alarms' } },
  silent: { onExhausted: { action: 'drop' } },
};

/** The order matters: a SlowDownError is a ThrottledError too. */
const RULES = [
  { errors: ['http:503'], policy: 'polite' },
  { errors: ['http:4xx', 'TypeError'], policy: 'noRetry' },
  { errors: ['ValueError'], policy: 'slow' },
  { errors: ['RuntimeError'], policy: 'quick' },
  { errors: ['KeyError'], policy: 'routed' },
  { errors: ['SlowDownError'], policy: 'loud' },
  { errors: ['ThrottledError'], policy: 'silent' },
];

const TIMEOUT_MS = 2_000;

const TABLE = [
  ['Python', 'score-py', pythonRuntime('behaviours.handle')],
  ['Node', 'score-js', nodeRuntime('behaviours.ts.handle')],
] as const;

let stage: Stage;
beforeAll(async () => {
  stage = await setStage('x-sink', 'mend', 'alarms');
  const patience = { ASYA_RESILIENCY_ACTOR_TIMEOUT: `${TIMEOUT_MS}ms` };
  await Promise.all([
    ...TABLE.map(([_language, actor, command]) =>
      stage.sidecar(actor, {
        ...patience,
        ASYA_RUNTIME_COMMAND: command,
        ASYA_RESILIENCY_POLICIES: JSON.stringify(POLICIES),
        ASYA_RESILIENCY_RULES: JSON.stringify(RULES),
      }),
    ),
    stage.sidecar('hopeful', {
      ...patience,
      ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
      ASYA_RESILIENCY_POLICIES: JSON.stringify({ default: { maxAttempts: 2 }, once: { maxAttempts: 2 } }),
      ASYA_RESILIENCY_RULES: JSON.stringify([{ errors: ['TimeoutError'], policy: 'once' }]),
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

const counterFile = () => `${stage.folder}/${randomUUID()}`;
const callsOf = (counter: string) => readFileSync(counter, 'utf8').length;
const inMilliseconds = (ms: number) => new Date(Date.now() + ms).toISOString();

describe('with a runtime in Python and in Node', () => {
  testIn(TABLE, 'an error is retried after the delay, and the retry that succeeds goes on', async (actor) => {
    const counter = counterFile();
    const payload = { do: 'raise', error: 'ValueError', counter, value: 'at last' };
    const sentAt = Date.now();
    const deadline = inMilliseconds(60_000);
    const envelope = envelopeAt(actor, payload, { parent_id: 'p', status: { deadline_at: deadline } });
    const arrived = await outcomeOf(envelope);
    // SQS counts whole seconds, rounded up.
    expect(arrived.arrivedAt - sentAt).toBeGreaterThanOrEqual(1_000);
    expect(callsOf(counter)).toBe(2);
    expect(arrived).toMatchObject({ payload: 'at last', parent_id: 'p' });
    expect(arrived.status).toMatchObject({ phase: 'succeeded', reason: 'Completed', attempt: 2 });
    expect(arrived.status).not.toHaveProperty('error');
    expect(arrived.status?.deadline_at).toBe(deadline);
  });

  testIn(TABLE, 'without an attempt left it ends as exhausted, the payload as it came', async (actor) => {
    const counter = counterFile();
    const payload = { do: 'raise', error: 'RuntimeError', counter, times: 9 };
    const arrived = await outcomeOf(envelopeAt(actor, payload));
    expect(callsOf(counter)).toBe(2);
    expect(arrived).toMatchObject({
      payload,
      route: { prev: [], curr: actor, next: [] },
      status: { phase: 'failed', reason: 'PolicyExhausted', attempt: 2, max_attempts: 2, actor },
    });
    expect(arrived.status?.error).toMatchObject({
      type: expect.stringMatching(/RuntimeError$/),
      message: 'as told',
    });
  });

  testIn(TABLE, 'noRetry ends at once', async (actor) => {
    const counter = counterFile();
    const arrived = await outcomeOf(
      envelopeAt(actor, { do: 'raise', error: 'TypeError', counter, times: 9 }),
    );
    expect(callsOf(counter)).toBe(1);
    expect(arrived.status).toMatchObject({
      phase: 'failed',
      reason: 'NonRetryableFailure',
      attempt: 1,
      max_attempts: 1,
    });
  });

  testIn(TABLE, 'onExhausted routes to its actors, as failed and with the error', async (actor) => {
    const route = { prev: ['fetch'], curr: actor, next: ['store'] };
    const payload = { do: 'raise', error: 'KeyError' };
    const arrived = await outcomeOf(envelopeAt(actor, payload, { route }), 'mend');
    expect(arrived).toMatchObject({
      payload,
      route: { prev: ['fetch', actor], curr: 'mend', next: ['tell'] },
      status: {
        phase: 'failed',
        reason: 'PolicyRouted',
        error: { type: expect.stringContaining('KeyError') },
      },
    });
  });

  testIn(TABLE, 'escalate sends to the topic and to the sink', async (actor) => {
    const envelope = envelopeAt(actor, { do: 'raise', error: 'SlowDownError' });
    const expected = { payload: envelope.payload, status: { phase: 'failed', reason: 'Escalated' } };
    expect(await outcomeOf(envelope)).toMatchObject(expected);
    expect(await stage.inbox.next('alarms', envelope.id)).toMatchObject(expected);
  });

  testIn(TABLE, 'drop leaves its trace in the sink; the rule takes an ancestor too', async (actor) => {
    const arrived = await outcomeOf(envelopeAt(actor, { do: 'raise', error: 'CalmDownError' }));
    expect(arrived.status).toMatchObject({ phase: 'failed', reason: 'Dropped' });
  });

  testIn(
    TABLE,
    'an error that no rule takes ends as RuntimeError where there is no default',
    async (actor) => {
      const arrived = await outcomeOf(envelopeAt(actor, { do: 'raise', error: 'UnheardOfError' }));
      expect(arrived.status).toMatchObject({ phase: 'failed', reason: 'RuntimeError', attempt: 1 });
    },
  );

  testIn(TABLE, '_on_error goes before every policy, and is gone from the headers', async (actor) => {
    const counter = counterFile();
    const envelope = envelopeAt(
      actor,
      { do: 'raise', error: 'ValueError', counter, times: 9 },
      { headers: { _on_error: 'mend' }, route: { prev: [], curr: actor, next: ['store'] } },
    );
    const arrived = await outcomeOf(envelope, 'mend');
    expect(callsOf(counter)).toBe(1);
    expect(arrived).toMatchObject({
      payload: envelope.payload,
      route: { prev: [actor], curr: 'mend', next: [] },
      status: { phase: 'failed', reason: 'PolicyRouted' },
    });
    expect(arrived.headers).not.toHaveProperty('_on_error');
  });

  testIn(TABLE, 'a rule for an HTTP status waits for as long as the error asks', async (actor) => {
    const counter = counterFile();
    const payload = { do: 'raise', error: 'ThrottledError', status_code: 503, retry_after: 2, counter };
    const sentAt = Date.now();
    const arrived = await outcomeOf(envelopeAt(actor, payload));
    expect(arrived.arrivedAt - sentAt).toBeGreaterThanOrEqual(2_000);
    expect(arrived.status).toMatchObject({ phase: 'succeeded', attempt: 2 });
  });

  testIn(TABLE, 'a rule for a class of HTTP statuses', async (actor) => {
    const payload = { do: 'raise', error: 'ThrottledError', status_code: 418 };
    const arrived = await outcomeOf(envelopeAt(actor, payload));
    expect(arrived.status).toMatchObject({ phase: 'failed', reason: 'NonRetryableFailure' });
  });

  testIn(
    TABLE,
    'a runtime that dies during the call is an error of the connection, retried after a second',
    async (actor) => {
      const counter = counterFile();
      const sentAt = Date.now();
      const arrived = await outcomeOf(envelopeAt(actor, { do: 'die', counter, value: 'back' }));
      expect(arrived.arrivedAt - sentAt).toBeGreaterThanOrEqual(1_000);
      expect(arrived).toMatchObject({ payload: 'back', status: { phase: 'succeeded', attempt: 2 } });
      // The retry told how often it would be tried; the value that came then is what counts.
      expect(arrived.status).not.toHaveProperty('error');
    },
  );

  testIn(TABLE, 'and is routed by _on_error like any other', async (actor) => {
    const envelope = envelopeAt(actor, { do: 'die' }, { headers: { _on_error: 'mend' } });
    const arrived = await outcomeOf(envelope, 'mend');
    expect(arrived.status).toMatchObject({
      reason: 'PolicyRouted',
      error: { type: 'RuntimeConnectionError', mro: ['ConnectionError', 'Exception'] },
    });
  });

  testIn(
    TABLE,
    'no answer in time ends as ActorTimeout, and the next call has a runtime again',
    async (actor) => {
      const payload = { do: 'hang' };
      const arrived = await outcomeOf(envelopeAt(actor, payload));
      expect(arrived).toMatchObject({
        payload,
        status: {
          phase: 'failed',
          reason: 'ActorTimeout',
          error: { type: 'ActorTimeout', mro: ['TimeoutError', 'Exception'] },
        },
      });
      expect((await outcomeOf(envelopeAt(actor, { value: 1 }))).payload).toBe(1);
    },
  );

  testIn(TABLE, 'where the deadline is the tighter bound, it is the deadline that ran out', async (actor) => {
    const counter = counterFile();
    const envelope = envelopeAt(
      actor,
      { do: 'hang', counter, times: 9 },
      { status: { deadline_at: inMilliseconds(1_700) }, headers: { _on_error: 'mend' } },
    );
    const arrived = await outcomeOf(envelope);
    expect(callsOf(counter)).toBe(1);
    expect(arrived.status).toMatchObject({
      phase: 'failed',
      reason: 'Timeout',
      error: { type: 'DeadlineExceeded' },
      deadline_at: envelope.status?.deadline_at,
    });
    expect((await outcomeOf(envelopeAt(actor, { value: 1 }))).payload).toBe(1);
  });

  testIn(TABLE, 'a retry that would come too late is not sent', async (actor) => {
    const counter = counterFile();
    const envelope = envelopeAt(
      actor,
      { do: 'raise', error: 'ThrottledError', status_code: 503, retry_after: 60, counter, times: 9 },
      { status: { deadline_at: inMilliseconds(10_000) } },
    );
    const arrived = await outcomeOf(envelope);
    expect(callsOf(counter)).toBe(1);
    expect(arrived.status).toMatchObject({ phase: 'failed', reason: 'Timeout', max_attempts: 2 });
  });
});

describe('with a default policy and a rule for timeouts', () => {
  test('an error that no rule takes goes by the default', async () => {
    const arrived = await outcomeOf(envelopeAt('hopeful', { do: 'raise', error: 'UnheardOfError' }));
    expect(arrived.status).toMatchObject({ phase: 'failed', reason: 'PolicyExhausted', attempt: 2 });
  });

  test('a timeout is retried by the rule', async () => {
    const counter = counterFile();
    const arrived = await outcomeOf(envelopeAt('hopeful', { do: 'hang', counter, value: 'awake' }));
    expect(arrived).toMatchObject({ payload: 'awake', status: { phase: 'succeeded', attempt: 2 } });
  });

  test('a lost runtime goes by the default, at once', async () => {
    const arrived = await outcomeOf(envelopeAt('hopeful', { do: 'exit' }));
    expect(arrived.status).toMatchObject({
      reason: 'PolicyExhausted',
      attempt: 2,
      error: { type: 'RuntimeConnectionError' },
    });
  });
});

test('every failure goes to the sink, none to x-sump', async () => {
  await stage.sqs.createQueue('x-sump');
  await outcomeOf(envelopeAt('score-py', { do: 'raise', error: 'TypeError' }));
  expect(await stage.sqs.counts('x-sump')).toEqual({ visible: 0, hidden: 0, delayed: 0 });
});
