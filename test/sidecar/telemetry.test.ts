import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { METRICS } from '../../lib/core/delivery/metrics.ts';
import { envelopeAt, type Wire } from './envelopes.ts';
import { type Series, scrape, seriesName } from './prometheus-text.ts';
import { metricsPort, pythonRuntime, type RunningProcess, until } from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';

/** SPEC.md section 11 end to end: /metrics and the log after deliveries with known outcomes. */

const MARKER = 'top-secret-8b1d';

const POLICIES = {
  quick: { maxAttempts: 2 },
  loud: { onExhausted: { action: 'escalate', topic: 'alarms' } },
  silent: { onExhausted: { action: 'drop' } },
};
const RULES = [
  { errors: ['ValueError', 'RuntimeError', 'RuntimeConnectionError'], policy: 'quick' },
  { errors: ['TypeError'], policy: 'noRetry' },
  { errors: ['SlowDownError'], policy: 'loud' },
  { errors: ['CalmDownError'], policy: 'silent' },
];

let stage: Stage;
let counting: RunningProcess;
let spaced: RunningProcess;
beforeAll(async () => {
  stage = await setStage('x-sink', 'store', 'repair', 'alarms', 'asya-prod-spaced', 'asya-prod-x-sink');
  const common = {
    ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
    ASYA_METRICS_ADDR: '127.0.0.1:0',
    ASYA_LOG_LEVEL: 'debug',
  };
  [counting, spaced] = await Promise.all([
    stage.sidecar('count', {
      ...common,
      ASYA_RESILIENCY_ACTOR_TIMEOUT: '5s',
      ASYA_RESILIENCY_POLICIES: JSON.stringify(POLICIES),
      ASYA_RESILIENCY_RULES: JSON.stringify(RULES),
    }),
    stage.sidecar('spaced', { ...common, ASYA_NAMESPACE: 'prod' }),
  ]);
});
afterAll(() => stage.close());

interface Row {
  readonly what: string;
  readonly envelope: Wire | string;
  /** The number of deliveries, and of calls to the runtime. */
  readonly deliveries: number;
  readonly calls: number;
  readonly results?: readonly string[];
  readonly failed?: string;
  readonly errors?: readonly string[];
  /** The queue and type of each send. */
  readonly sends: readonly (readonly [queue: string, type: string])[];
}

const SINK = ['x-sink', 'sink'] as const;
const RETRY = ['count', 'retry'] as const;
const counter = () => `${stage.folder}/${randomUUID()}`;
const at = (payload: object, more: Partial<Wire> = {}) =>
  envelopeAt('count', { ...payload, secret: MARKER }, more);
const onTo = (...next: string[]) => ({ route: { prev: [], curr: 'count', next } });
const raising = (error: string, more: object = {}, around: Partial<Wire> = {}) =>
  at({ do: 'raise', error, ...more }, around);

/** Every row of SPEC.md section 11's second table that a healthy broker allows. */
function rows(): readonly Row[] {
  const ok = { deliveries: 1, calls: 1 };
  const never = { deliveries: 1, calls: 0 };
  return [
    {
      what: 'value',
      envelope: at({ value: 1 }, onTo('store')),
      ...ok,
      results: ['success'],
      sends: [['store', 'next']],
    },
    { what: 'last value', envelope: at({ value: 1 }), ...ok, results: ['success'], sends: [SINK] },
    {
      what: 'fan-out',
      envelope: at({ value: [1, 2, 3] }, onTo('store')),
      ...ok,
      results: ['success'],
      sends: Array.from({ length: 3 }, () => ['store', 'next'] as const),
    },
    { what: 'empty', envelope: at({ value: null }), ...ok, results: ['empty_response'], sends: [SINK] },
    {
      what: 'no policy',
      envelope: raising('UnmatchedError'),
      ...ok,
      results: ['error'],
      failed: 'runtime_error',
      errors: ['execution'],
      sends: [SINK],
    },
    {
      what: 'retried',
      envelope: raising('ValueError', { counter: counter() }),
      deliveries: 2,
      calls: 2,
      results: ['error', 'retried', 'success'],
      errors: ['execution'],
      sends: [RETRY, SINK],
    },
    {
      what: 'exhausted',
      envelope: raising('RuntimeError'),
      deliveries: 2,
      calls: 2,
      results: ['error', 'retried', 'error'],
      failed: 'policy_exhausted',
      errors: ['execution', 'execution'],
      sends: [RETRY, SINK],
    },
    {
      what: 'not retryable',
      envelope: raising('TypeError'),
      ...ok,
      results: ['error'],
      failed: 'policy_exhausted',
      errors: ['execution'],
      sends: [SINK],
    },
    {
      what: 'routed',
      envelope: raising('ValueError', {}, { headers: { _on_error: 'repair' } }),
      ...ok,
      results: ['error', 'policy_routed'],
      errors: ['execution'],
      sends: [['repair', 'routed']],
    },
    {
      what: 'escalated',
      envelope: raising('SlowDownError'),
      ...ok,
      results: ['error', 'escalated'],
      errors: ['execution'],
      sends: [['alarms', 'escalation'], SINK],
    },
    {
      what: 'dropped',
      envelope: raising('CalmDownError'),
      ...ok,
      results: ['error', 'dropped'],
      errors: ['execution'],
      sends: [SINK],
    },
    {
      what: 'deadline passed',
      envelope: at({ value: 1 }, { status: { deadline_at: '2020-01-01T00:00:00Z' } }),
      ...never,
      results: ['sla_expired'],
      failed: 'sla_timeout',
      sends: [SINK],
    },
    { what: 'not JSON', envelope: `{"payload":"${MARKER}`, ...never, failed: 'parse_error', sends: [SINK] },
    {
      what: 'not an envelope',
      envelope: `{"payload":"${MARKER}"}`,
      ...never,
      failed: 'validation_error',
      sends: [SINK],
    },
    {
      what: 'for another actor',
      envelope: at({ value: 1 }, { route: { prev: [], curr: 'other', next: [] } }),
      ...never,
      failed: 'route_mismatch',
      sends: [SINK],
    },
  ];
}

/** Runs separately, after all others: a killed runtime may take longer to restart than a call's timeout. */
const actorTimeout = (): Row => ({
  what: 'actor timeout',
  envelope: at({ do: 'hang' }),
  deliveries: 1,
  calls: 1,
  results: ['error'],
  failed: 'timeout',
  errors: ['timeout'],
  sends: [SINK],
});

/** Runs separately too: other calls would fail with the runtime that dies. */
const lostConnection = (): Row => ({
  what: 'connection lost',
  envelope: at({ do: 'die' }),
  deliveries: 2,
  calls: 2,
  results: ['error', 'retried', 'error'],
  failed: 'policy_exhausted',
  errors: ['connection', 'connection'],
  sends: [RETRY, SINK],
});

const QUEUE = { queue: 'count' };

/** All series that these rows produce. */
function expectedSeries(all: readonly Row[]): Map<string, number> {
  const series = new Map<string, number>();
  const add = (name: string, labels: Record<string, string>, by = 1) => {
    const key = seriesName(`asya_actor_${name}`, labels);
    series.set(key, (series.get(key) ?? 0) + by);
  };
  for (const { deliveries, calls, results = [], failed, errors = [], sends } of all) {
    add('messages_received_total', { ...QUEUE, transport: 'sqs' }, deliveries);
    for (const result of results) add('messages_total', { ...QUEUE, result });
    if (failed !== undefined) add('messages_failed_total', { ...QUEUE, reason: failed });
    for (const error_type of errors) add('runtime_errors_total', { ...QUEUE, error_type });
    for (const [destination_queue, message_type] of sends)
      add('messages_sent_total', { destination_queue, message_type });
    add('processing_duration_seconds_count', QUEUE, deliveries);
    add('runtime_execution_duration_seconds_count', QUEUE, calls);
    add('message_size_bytes_count', { direction: 'received' }, deliveries);
    add('message_size_bytes_count', { direction: 'sent' }, sends.length);
    add('queue_send_duration_seconds_count', { ...QUEUE, transport: 'sqs' }, deliveries);
  }
  add('active_messages', QUEUE, 0);
  // These outcomes do not occur in the run. Their series exist nevertheless, so that increase() sees the first one.
  for (const result of ['canceled', 'deferred', 'end_consumed', 'returned'])
    add('messages_total', { ...QUEUE, result }, 0);
  for (const reason of ['retry_send_failed', 'transport_error'])
    add('messages_failed_total', { ...QUEUE, reason }, 0);
  return series;
}

/** The counters, without the series whose values depend on time. */
function countsIn(series: Series): Map<string, number> {
  const isCount = (name: string) =>
    /_(total|count)\{|active_messages/.test(name) && !name.includes('queue_receive');
  return new Map([...series].filter(([name]) => isCount(name)));
}

const sorted = (series: ReadonlyMap<string, number>) => Object.fromEntries([...series].sort());

async function sendAndWait(some: readonly Row[]): Promise<void> {
  const logged = () => counting.lines.filter(({ message }) => message === 'delivery').length;
  const before = logged();
  for (const { envelope } of some)
    await stage.sqs.send('count', typeof envelope === 'string' ? envelope : JSON.stringify(envelope));
  const deliveries = some.reduce((sum, row) => sum + row.deliveries, 0);
  await until(() => logged() >= before + deliveries, 'every delivery is logged');
}

async function isReady(port: number): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
}

describe('a run with known counts', () => {
  let port = 0;
  let all: readonly Row[] = [];
  beforeAll(async () => {
    port = await metricsPort(counting);
    const groups = [rows(), [actorTimeout()], [lostConnection()]];
    all = groups.flat();
    for (const group of groups) {
      await until(() => isReady(port), 'the runtime is ready');
      await sendAndWait(group);
    }
  });

  test('exposes every specified metric with its labels and type', async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    for (const [name, { kind, labels }] of Object.entries(METRICS)) {
      const type = { count: 'counter', level: 'gauge', seconds: 'histogram', bytes: 'histogram' }[kind];
      expect(text).toContain(`# TYPE asya_actor_${name} ${type}`);
      // Only the crew adds failures to the index.
      if (name === 'failures_recorded_total') continue;
      for (const label of labels)
        expect(text).toMatch(new RegExp(`asya_actor_${name}\\w*{[^}]*\\b${label}="`));
    }
  });

  test('counts every delivery exactly once', async () => {
    expect(sorted(countsIn(await scrape(port)))).toEqual(sorted(expectedSeries(all)));
  });

  test('uses no envelope id as a label', async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    for (const { envelope } of all) if (typeof envelope !== 'string') expect(text).not.toContain(envelope.id);
  });

  test('logs one line per delivery, with id, attempt, outcome and times', () => {
    const logged = counting.lines.filter(({ message }) => message === 'delivery');
    for (const { envelope, deliveries } of all) {
      if (typeof envelope === 'string') continue;
      const lines = logged.filter(({ envelopeId }) => envelopeId === envelope.id);
      expect(lines.length).toBe(deliveries);
      expect(lines.map(({ attempt }) => attempt)).toEqual(lines.map((_, index) => index + 1));
      for (const line of lines) {
        expect(line).toMatchObject({ actor: 'count', settle: 'ack' });
        expect(line['processingMs']).toBeTypeOf('number');
        expect(line['time']).toMatch(/^\d{4}-\d\d-\d\dT/);
      }
    }
  });

  test('logs JSON lines only, and never a payload', () => {
    const lines = counting.output().split('\n');
    expect(lines.length).toBeGreaterThan(100);
    for (const line of lines) {
      expect(() => JSON.parse(line)).not.toThrow();
      expect(line).not.toContain(MARKER);
    }
  });
});

describe('in a namespace', () => {
  // "é" is one character and two bytes.
  const body = JSON.stringify(envelopeAt('spaced', { value: 'é'.repeat(1_000) }));
  let series: Series;
  beforeAll(async () => {
    await stage.sqs.send('asya-prod-spaced', body);
    await stage.sqs.takeUntil('asya-prod-x-sink', 1);
    await spaced.untilLine(({ message }) => message === 'delivery');
    series = await scrape(await metricsPort(spaced));
  });

  test('uses the same queue name in every label', () => {
    expect(series.get('asya_actor_messages_total{queue="asya-prod-spaced",result="success"}')).toBe(1);
    expect([...series.keys()].filter((name) => name.includes('messages_sent_total'))).toEqual([
      'asya_actor_messages_sent_total{destination_queue="asya-prod-x-sink",message_type="sink"}',
    ]);
  });

  test('measures sizes in bytes, not in characters', () => {
    expect(series.get('asya_actor_message_size_bytes_sum{direction="received"}')).toBe(
      Buffer.byteLength(body),
    );
  });
});

describe("the runtime's output", () => {
  test('is logged with the actor and the envelope id', async () => {
    const text = `hello ${randomUUID()}`;
    const envelope = envelopeAt('count', { do: 'print', text });
    await stage.send(envelope);
    const lines = await Promise.all(
      ['stdout', 'stderr'].map((stream) =>
        counting.untilLine((line) => line['text'] === text && line['stream'] === stream),
      ),
    );
    for (const line of lines)
      expect(line).toMatchObject({ message: 'runtime', actor: 'count', envelopeId: envelope.id });
    await stage.inbox.next('x-sink', envelope.id);
  });
});
