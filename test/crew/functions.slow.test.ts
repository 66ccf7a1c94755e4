import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LambdaProcess, recordOf, startLambda } from '../functions/sidecar/lambda-process.ts';
import { envelopeAt, type Wire } from '../sidecar/envelopes.ts';
import { until } from '../sidecar/sidecar-process.ts';
import type { OutageProxy } from '../support/outage-proxy.ts';
import { type CrewStage, ended, failed, PAYLOAD, SECRET, setCrewStage } from './crew-stage.ts';

/** The crew as Lambda functions: they acknowledge only what they stored, and store everything once. */

let stage: CrewStage;
let sink: LambdaProcess;
let sump: LambdaProcess;
let dlq: LambdaProcess;
beforeAll(async () => {
  stage = await setCrewStage('x-sink', 'x-sump');
  [sink, sump, dlq] = await Promise.all([
    stage.function('x-sink', WITHOUT_REPORT_TIMEOUTS),
    stage.function('x-sump', WITHOUT_REPORT_TIMEOUTS),
    stage.function('x-dlq', { ...WITHOUT_REPORT_TIMEOUTS, ASYA_NAMESPACE: 'prod' }),
  ]);
});
afterAll(() => stage.close());

/** Twenty concurrent records may take long on a busy machine. */
const LONG_TIMEOUT = { ASYA_RESILIENCY_ACTOR_TIMEOUT: '20s', ASYA_CONCURRENCY: '10' };
/** For tests that expect every report to reach the gateway. */
const WITHOUT_REPORT_TIMEOUTS = {
  ...LONG_TIMEOUT,
  NODE_OPTIONS: `--import ${import.meta.dirname}/no-request-timeouts.ts`,
};
/** For tests in which every call times out. */
const SHORT_TIMEOUT = { ...LONG_TIMEOUT, ASYA_RESILIENCY_ACTOR_TIMEOUT: '1500ms' };
const DONE = { batchItemFailures: [] };
const TASK = { headers: { 'x-asya-task': 't-1', 'x-asya-flow': 'enhance' } };

const toSink = (body: Wire | string, more = {}) => recordOf('x-sink', body, more);
const toSump = (body: Wire | string) => recordOf('x-sump', body);
/** A record from an actor's dead-letter queue, after six receives. */
const deadLetter = (actor: string, body: Wire | string, more = {}) => {
  const record = recordOf(`asya-prod-${actor}-dlq`, body, more);
  return { ...record, attributes: { ...record.attributes, ApproximateReceiveCount: '6' } };
};

const failureOf = (record: { readonly messageId: string }) => ({
  batchItemFailures: [{ itemIdentifier: record.messageId }],
});

/** Receives and deletes everything in x-sump's queue, and returns the bodies for this envelope. */
async function forwarded(id: string): Promise<readonly string[]> {
  const bodies: string[] = [];
  for (;;) {
    const messages = await stage.sqs.take('x-sump');
    if (messages.length === 0) return bodies.filter((body) => JSON.parse(body).id === id);
    bodies.push(...messages.map(({ Body = '' }) => Body));
  }
}

async function recordsOf(id: string) {
  const ends = await stage.stores.records.ofEnvelope(id);
  return ends.ok ? ends.records : [];
}

async function failuresOf(id: string) {
  const page = await stage.stores.failures.ofEnvelope(id);
  return page.ok ? page.failures : [];
}

async function duringOutage(
  proxy: OutageProxy,
  state: 'goDown' | 'hang',
  act: () => Promise<void>,
): Promise<void> {
  await proxy[state]();
  try {
    await act();
  } finally {
    await proxy.recover();
  }
}

describe('x-sink', () => {
  test('archives a successful envelope unchanged, reports it to the gateway, and does not forward it', async () => {
    const envelope = ended({}, { ...TASK, parent_id: 'p-1', extra: { kept: [1] } });
    expect(await sink.invoke([toSink(envelope)])).toEqual(DONE);
    const { key, envelope: archived } = await stage.archived(envelope.id);
    expect(key).toBe(`succeeded/2026-01-01/score/${envelope.id}.json`);
    expect(archived).toEqual(envelope);
    expect(await recordsOf(envelope.id)).toMatchObject([
      { end: 'succeeded', archiveKey: key, actor: 'score' },
    ]);
    expect(await forwarded(envelope.id)).toEqual([]);
    expect(stage.gateway.reportsOf(envelope.id)).toEqual([
      {
        task: 't-1',
        flow: 'enhance',
        envelope_id: envelope.id,
        parent_id: 'p-1',
        event: 'final',
        actor: 'score',
        hop: 2,
        phase: 'succeeded',
        reason: 'Completed',
        at: '2026-01-01T10:00:02Z',
        archive_key: key,
        route: envelope.route,
      },
    ]);
  });

  test('preserves the bytes of a payload', async () => {
    const envelope = ended();
    const payload = '{"n":9007199254740993,"a":1.10,"a":2,"u":"\\u0041"}';
    const body = JSON.stringify(envelope).replace(JSON.stringify(PAYLOAD), payload);
    expect(await sink.invoke([toSink(body)])).toEqual(DONE);
    expect((await stage.archived(envelope.id)).text).toContain(`"payload":${payload}`);
  });

  test('forwards a failed envelope to x-sump unchanged, and reports the error', async () => {
    const envelope = failed('no such user: 17', {}, TASK);
    expect(await sink.invoke([toSink(envelope)])).toEqual(DONE);
    const { key } = await stage.archived(envelope.id);
    expect(key).toBe(`failed/2026-01-01/score/${envelope.id}.json`);
    expect((await forwarded(envelope.id)).map((body) => JSON.parse(body))).toEqual([envelope]);
    expect(stage.gateway.reportsOf(envelope.id)).toMatchObject([
      { phase: 'failed', error: { type: 'ValueError', message: 'no such user: 17' } },
    ]);
  });

  test.each([
    ['dropped', { phase: 'failed', reason: 'Dropped' }, 'failed'],
    ['canceled', { phase: 'canceled', reason: 'Canceled' }, 'canceled'],
  ])('archives a %s envelope, and does not forward it', async (_end, status, folder) => {
    const envelope = ended(status);
    expect(await sink.invoke([toSink(envelope)])).toEqual(DONE);
    expect((await stage.archived(envelope.id)).key).toBe(`${folder}/2026-01-01/score/${envelope.id}.json`);
    expect(await recordsOf(envelope.id)).toHaveLength(1);
    expect(await forwarded(envelope.id)).toEqual([]);
    expect(stage.gateway.reportsOf(envelope.id)).toEqual([]);
  });

  test('archives the body of an unreadable message, and x-sump records it as a failure', async () => {
    const bodies = [`${SECRET} \u{1F600} \u0001\t" \\`, '', '{"id":"', '[1]', '{"route":{"curr":"x-sink"}}'];
    for (const body of bodies) {
      const record = toSink(body);
      expect(await sink.invoke([record])).toEqual(DONE);
      const [message] = await stage.sqs.takeUntil('x-sump', 1);
      const { id, payload, status } = JSON.parse(message?.Body ?? '') as Wire & { payload: { raw: string } };
      expect([payload.raw, status?.phase, status?.actor]).toEqual([body, 'failed', 'x-sink']);
      expect(await sump.invoke([toSump(message?.Body ?? '')])).toEqual(DONE);
      const { key, envelope } = await stage.archived(id);
      expect((envelope.payload as { raw: string }).raw).toBe(body);
      expect(await failuresOf(id)).toMatchObject([{ archiveKey: key, actor: 'x-sink' }]);
    }
  });

  test('writes one record, one object and one failure for five deliveries of an envelope', async () => {
    const envelope = failed('five times');
    const record = toSink(envelope);
    await sink.invoke([record]);
    const later = { ...envelope, status: { ...envelope.status, updated_at: '2026-01-02T00:00:00Z' } };
    await sink.invoke([record, toSink(envelope), toSink(later), toSink(later)]);
    const bodies = await forwarded(envelope.id);
    expect(bodies).toHaveLength(5);
    expect(await sump.invoke(bodies.map(toSump))).toEqual(DONE);
    const { key, envelope: archived } = await stage.archived(envelope.id);
    expect(archived).toEqual(envelope);
    expect(await recordsOf(envelope.id)).toMatchObject([{ archiveKey: key }]);
    expect(await failuresOf(envelope.id)).toMatchObject([{ archiveKey: key }]);
    await until(() => failureLinesOf(envelope.id).length === 5, 'one line per delivery');
    expect(failureLinesOf(envelope.id).filter((line) => line['again'] !== true)).toHaveLength(1);
  });

  test('writes one record and one object for twenty concurrent deliveries', async () => {
    const envelope = ended();
    expect(await sink.invoke(Array.from({ length: 20 }, () => toSink(envelope)))).toEqual(DONE);
    expect((await stage.archived(envelope.id)).envelope).toEqual(envelope);
    expect(await recordsOf(envelope.id)).toHaveLength(1);
  });

  test('archives what succeeded in one object, and what failed in its own', async () => {
    const succeeded = Array.from({ length: 8 }, () => ended());
    const failures = [failed('first'), failed('second')];
    const before = await stage.keys();
    expect(await sink.invoke([...succeeded, ...failures].map((one) => toSink(one)))).toEqual(DONE);
    const added = (await stage.keys()).filter((key) => !before.includes(key));
    const [batch, ...alone] = added.toSorted().toReversed();
    expect(batch).toMatch(/^succeeded\/2026-01-01\/@batches\/[-0-9a-f]{36}\.json$/);
    expect(new Set(alone)).toEqual(new Set(failures.map(({ id }) => `failed/2026-01-01/score/${id}.json`)));
    for (const envelope of succeeded) {
      const [record, ...others] = await recordsOf(envelope.id);
      expect(others).toEqual([]);
      const got = await stage.stores.archive.get(record?.archiveKey ?? '');
      expect(got.ok && JSON.parse(got.text ?? '')).toEqual(envelope);
    }
    for (const { id } of failures) await forwarded(id);
  });

  test('with ASYA_ARCHIVE=failed archives only what failed and the results of tasks', async () => {
    const frugal = await stage.function('x-sink', { ...WITHOUT_REPORT_TIMEOUTS, ASYA_ARCHIVE: 'failed' });
    const result = ended({}, { headers: { 'x-asya-flow': 'enhance' } });
    const envelopes = [
      ended(),
      ended({}, TASK),
      failed('archived', {}, TASK),
      { ...result, headers: { ...result.headers, 'x-asya-task': result.id } },
    ];
    const [plain, child, failure, root] = envelopes as [Wire, Wire, Wire, Wire];
    for (let time = 0; time < 2; time++)
      expect(await frugal.invoke(envelopes.map((one) => toSink(one)))).toEqual(DONE);
    for (const { id } of [plain, child]) {
      const [record, ...others] = await recordsOf(id);
      expect([record?.end, record?.archiveKey, others]).toEqual(['succeeded', undefined, []]);
      expect(await stage.copiesOf(id)).toBe(0);
    }
    for (const one of [failure, root]) expect((await stage.archived(one.id)).envelope).toEqual(one);
    const [report] = stage.gateway.reportsOf(child.id);
    expect(report).toMatchObject({ event: 'final', phase: 'succeeded' });
    expect(report).not.toHaveProperty('archive_key');
    await forwarded(failure.id);
  });

  test('writes a separate record for a replay that failed again', async () => {
    const envelope = failed('and again');
    const replayed = { ...envelope, headers: { ...envelope.headers, 'x-asya-replay': 'r-1' } };
    expect(await sink.invoke([toSink(envelope), toSink(replayed)])).toEqual(DONE);
    const [plain, ...rest] = (await recordsOf(envelope.id)).toSorted((one) => (one.replay ? 1 : -1));
    expect(plain?.archiveKey).toBe(`failed/2026-01-01/score/${envelope.id}.json`);
    expect(rest.map(({ archiveKey }) => archiveKey)).toEqual([
      `failed/2026-01-01/score/${envelope.id}=r-1.json`,
    ]);
    expect(JSON.parse(await stage.object(rest[0]?.archiveKey ?? ''))).toEqual(replayed);
    await forwarded(envelope.id);
  });

  test('archives the object if a crash left only the record', async () => {
    const envelope = failed('crashed between');
    await sink.invoke([toSink(envelope)]);
    const { key } = await stage.archived(envelope.id);
    await stage.stores.archive.remove(key);
    expect(await sink.invoke([toSink(envelope)])).toEqual(DONE);
    expect((await stage.archived(envelope.id)).key).toBe(key);
    expect(await forwarded(envelope.id)).toHaveLength(2);
  });

  test("does not acknowledge while x-sump's queue is missing, and forwards once it exists", async () => {
    const lost = await stage.function('x-sink', { ...LONG_TIMEOUT, ASYA_ACTOR_SUMP: 'x-sump-later' });
    const envelope = failed('nowhere to go');
    const fine = ended();
    const record = toSink(envelope);
    expect(await lost.invoke([record, toSink(fine)])).toEqual(failureOf(record));
    await stage.archived(fine.id);
    await stage.archived(envelope.id);
    await stage.sqs.createQueue('x-sump-later');
    expect(await lost.invoke([record])).toEqual(DONE);
    const [message] = await stage.sqs.takeUntil('x-sump-later', 1);
    expect(JSON.parse(message?.Body ?? '')).toEqual(envelope);
  });
});

describe('x-sump', () => {
  test("records a failure with x-sink's archive key, logs one line and counts it", async () => {
    const before = sump.lines.length;
    const envelope = failed('no such user: 4711', { attempt: 3 }, TASK);
    await sink.invoke([toSink(envelope)]);
    const [body = ''] = await forwarded(envelope.id);
    expect(await sump.invoke([toSump(body)])).toEqual(DONE);
    const { key } = await stage.archived(envelope.id);
    const [failure] = await failuresOf(envelope.id);
    expect(failure).toMatchObject({
      envelopeId: envelope.id,
      actor: 'score',
      flow: 'enhance',
      task: 't-1',
      reason: 'PolicyExhausted',
      errorType: 'ValueError',
      errorMessage: 'no such user: 4711',
      firstSeenMs: Date.parse('2026-01-01T10:00:00Z'),
      lastSeenMs: Date.parse('2026-01-01T10:00:02Z'),
      attempts: 3,
      archiveKey: key,
      replays: [],
    });
    await until(() => failureLinesOf(envelope.id).length === 1, 'the line');
    expect(failureLinesOf(envelope.id)).toMatchObject([
      {
        level: 'error',
        actor: 'x-sump',
        failedAt: 'score',
        reason: 'PolicyExhausted',
        errorType: 'ValueError',
        errorMessage: 'no such user: 4711',
        group: failure?.fingerprint,
        attempts: 3,
        archiveKey: key,
        flow: 'enhance',
        task: 't-1',
      },
    ]);
    const counted = { actor: 'score', reason: 'PolicyExhausted', FailuresRecordedTotal: expect.anything() };
    await expect.poll(() => sump.lines.slice(before)).toContainEqual(expect.objectContaining(counted));
    expect(stage.gateway.reportsOf(envelope.id)).toHaveLength(1);
  });

  test('archives an envelope that did not pass through x-sink', async () => {
    const envelope = failed('another way');
    expect(await sump.invoke([toSump(envelope)])).toEqual(DONE);
    const { key, envelope: archived } = await stage.archived(envelope.id);
    expect(archived).toEqual(envelope);
    expect(await failuresOf(envelope.id)).toMatchObject([{ archiveKey: key }]);
  });

  test('leaves an unreadable message to its dead-letter queue', async () => {
    const record = toSump(SECRET);
    expect(await sump.invoke([record])).toEqual(failureOf(record));
  });
});

describe('x-dlq', () => {
  test('archives, records and reports a dead letter as DeliveryExhausted', async () => {
    const status = { phase: 'retrying', actor: 'score', attempt: 2, created_at: '2026-01-01T10:00:00Z' };
    const route = { prev: ['fetch'], curr: 'score', next: ['store'] };
    const envelope = envelopeAt('score', PAYLOAD, { ...TASK, route, status });
    expect(await dlq.invoke([deadLetter('score', envelope)])).toEqual(DONE);
    const { key, envelope: archived } = await stage.archived(envelope.id);
    expect(key).toMatch(/^dlq\/\d{4}-\d{2}-\d{2}\/score\//);
    expect(archived).toMatchObject({
      ...envelope,
      status: {
        phase: 'failed',
        reason: 'DeliveryExhausted',
        actor: 'score',
        queue: 'asya-prod-score',
        receive_count: 6,
        before: status,
        error: { type: 'DeliveryExhausted' },
      },
    });
    expect(await recordsOf(envelope.id)).toMatchObject([{ end: 'failed', archiveKey: key }]);
    expect(await failuresOf(envelope.id)).toMatchObject([
      { actor: 'score', reason: 'DeliveryExhausted', archiveKey: key, attempts: 2 },
    ]);
    expect(stage.gateway.reportsOf(envelope.id)).toMatchObject([
      { phase: 'failed', reason: 'DeliveryExhausted', archive_key: key },
    ]);
    expect(await forwarded(envelope.id)).toEqual([]);
  });

  test.each([`${SECRET} \u{1F600} \u0001\t" \\`, '', '{"id":"e', '{"id":""}', 'null'])(
    'archives a body that is not an envelope, byte for byte: %j',
    async (body) => {
      const messageId = randomUUID();
      for (let time = 0; time < 2; time++)
        expect(await dlq.invoke([deadLetter('score', body, { messageId })])).toEqual(DONE);
      const page = await stage.stores.failures.list({ actor: 'score', reason: 'DeliveryExhausted' });
      const keys = page.ok ? page.failures.map(({ archiveKey }) => archiveKey) : [];
      const texts = await Promise.all(keys.map((key) => stage.object(key)));
      const raws = texts.map((text) => (JSON.parse(text) as { payload: { raw?: string } }).payload.raw);
      expect(raws.filter((raw) => raw === body)).toHaveLength(1);
    },
  );

  test.each(['x-sink', 'x-sump'])('drains the dead-letter queue of %s', async (actor) => {
    const envelope = failed('could not be stored');
    expect(await dlq.invoke([deadLetter(actor, envelope)])).toEqual(DONE);
    const { key, envelope: archived } = await stage.archived(envelope.id);
    expect(key).toMatch(new RegExp(`^dlq/[-0-9]{10}/${actor}/`));
    expect(archived.status).toMatchObject({ actor, queue: `asya-prod-${actor}`, before: envelope.status });
    expect(await failuresOf(envelope.id)).toMatchObject([{ actor, reason: 'DeliveryExhausted' }]);
  });

  test('uses the existing record for an envelope that x-sink archived but could not forward', async () => {
    const record = toSink('"'.repeat(600_000));
    expect(await sink.invoke([record])).toEqual(failureOf(record));
    expect(await dlq.invoke([deadLetter('x-sink', record.body, { messageId: record.messageId })])).toEqual(
      DONE,
    );
    const page = await stage.stores.failures.list({ actor: 'x-sink', reason: 'DeliveryExhausted' });
    const big = page.ok ? page.failures.filter(({ archiveKey }) => archiveKey.startsWith('failed/')) : [];
    expect(big).toHaveLength(1);
    const { payload } = JSON.parse(await stage.object(big[0]?.archiveKey ?? '')) as {
      payload: { raw: string };
    };
    expect(payload.raw).toBe(record.body);
  });
});

describe('a storage outage', () => {
  const STORES = [
    ['S3', () => stage.s3],
    ['DynamoDB', () => stage.dynamoDb],
  ] as const;

  test.each(STORES)(
    'of %s: x-sink does not acknowledge, and stores everything after the outage',
    async (_name, proxy) => {
      const envelopes = [ended(), failed('during the outage')];
      const records = envelopes.map((envelope) => toSink(envelope));
      await duringOutage(proxy(), 'goDown', async () => {
        const { batchItemFailures } = await sink.invoke(records);
        expect(batchItemFailures).toHaveLength(2);
        for (const { id } of envelopes) {
          expect(await stage.keysOf(id)).toEqual([]);
          expect(await forwarded(id)).toEqual([]);
        }
      });
      expect(await sink.invoke(records)).toEqual(DONE);
      for (const envelope of envelopes)
        expect((await stage.archived(envelope.id)).envelope).toEqual(envelope);
      expect(await forwarded(envelopes[1]?.id ?? '')).toHaveLength(1);
    },
  );

  test.each(STORES)(
    'of %s: x-dlq does not acknowledge, and stores everything after the outage',
    async (_name, proxy) => {
      const envelope = envelopeAt('score', PAYLOAD, TASK);
      const record = deadLetter('score', envelope);
      await duringOutage(proxy(), 'goDown', async () => {
        expect(await dlq.invoke([record])).toEqual(failureOf(record));
        expect(await stage.keysOf(envelope.id)).toEqual([]);
        expect(stage.gateway.reportsOf(envelope.id)).toEqual([]);
      });
      expect(await dlq.invoke([record])).toEqual(DONE);
      const { key } = await stage.archived(envelope.id);
      expect(await failuresOf(envelope.id)).toMatchObject([{ archiveKey: key }]);
      expect(stage.gateway.reportsOf(envelope.id)).toHaveLength(1);
    },
  );

  test('of DynamoDB: x-sump does not acknowledge, and stores everything after the outage', async () => {
    const envelope = failed('sump without a table');
    const record = toSump(envelope);
    await duringOutage(stage.dynamoDb, 'goDown', async () => {
      expect(await sump.invoke([record])).toEqual(failureOf(record));
    });
    expect(failureLinesOf(envelope.id)).toEqual([]);
    expect(await sump.invoke([record])).toEqual(DONE);
    expect(await failuresOf(envelope.id)).toHaveLength(1);
  });

  test('in which DynamoDB hangs: x-sink times out and does not acknowledge', async () => {
    const envelope = ended();
    const record = toSink(envelope);
    const timingOut = await stage.function('x-sink', SHORT_TIMEOUT);
    await duringOutage(stage.dynamoDb, 'hang', async () => {
      expect(await timingOut.invoke([record])).toEqual(failureOf(record));
    });
    expect(await sink.invoke([record])).toEqual(DONE);
    await stage.archived(envelope.id);
  });
});

describe('a gateway outage', () => {
  test.each([
    ['refuses connections', 'goDown'],
    ['hangs', 'hang'],
  ] as const)('in which it %s does not prevent storing', async (_how, state) => {
    const envelope = failed('during a gateway outage', {}, TASK);
    const lost = envelopeAt('score', PAYLOAD, TASK);
    const [sinkInOutage, dlqInOutage] = await Promise.all([
      stage.function('x-sink', LONG_TIMEOUT),
      stage.function('x-dlq', { ...LONG_TIMEOUT, ASYA_NAMESPACE: 'prod' }),
    ]);
    await duringOutage(stage.gateway, state, async () => {
      const responses = await Promise.all([
        sinkInOutage.invoke([toSink(envelope)]),
        dlqInOutage.invoke([deadLetter('score', lost)]),
      ]);
      expect(responses).toEqual([DONE, DONE]);
    });
    await stage.archived(envelope.id);
    await stage.archived(lost.id);
    expect(await forwarded(envelope.id)).toHaveLength(1);
    expect(await failuresOf(lost.id)).toHaveLength(1);
    expect(stage.gateway.reportsOf(envelope.id)).toEqual([]);
  });

  test('is logged', async () => {
    const envelope = ended({}, TASK);
    await duringOutage(stage.gateway, 'goDown', async () => {
      await sink.invoke([toSink(envelope)]);
    });
    const isIt = ({ message, envelopeId }: { message?: unknown; envelopeId?: unknown }) =>
      message === 'reporting to the gateway failed' && envelopeId === envelope.id;
    expect(await sink.untilLine(isIt)).toMatchObject({
      level: 'warn',
      problem: expect.stringMatching(/reports/),
    });
  });
});

describe('a function with a wrong configuration does not load', () => {
  test.each([
    ['x-sink', { ASYA_ACTOR_NAME: 'x-sump' }, 'set it to x-sink'],
    ['x-sump', { ASYA_RUNTIME_COMMAND: 'python3 -m app' }, 'unset ASYA_RUNTIME_COMMAND'],
    ['x-dlq', { ASYA_ARCHIVE_BUCKET: '' }, 'ASYA_ARCHIVE_BUCKET'],
  ])('%s with %j', async (name, more, message) => {
    const misconfigured = startLambda(stage.variablesOf(name, more), name);
    const end = await misconfigured.untilExit();
    expect(end.code).not.toBe(0);
    expect(misconfigured.errorOutput()).toContain(message);
  });

  test('x-sink without a bucket and a table; the message names both', async () => {
    const { ASYA_ARCHIVE_BUCKET: _b, ASYA_FAILURE_TABLE: _t, ...rest } = stage.variablesOf('x-sink');
    const misconfigured = startLambda(rest, 'x-sink');
    await misconfigured.untilExit();
    expect(misconfigured.errorOutput()).toMatch(
      /ASYA_ARCHIVE_BUCKET is not set.*ASYA_FAILURE_TABLE is not set/,
    );
  });
});

describe('all tests above', () => {
  test('logged no payload', () => {
    for (const one of [sink, sump, dlq]) {
      expect(one.lines.length).toBeGreaterThan(0);
      expect(one.output()).not.toContain(SECRET);
    }
  });

  test('requested encryption for every object', () => {
    const puts = stage.s3.received().match(/PUT \/envelopes\//g) ?? [];
    const encrypted = stage.s3.received().match(/^x-amz-server-side-encryption: AES256\r$/gm) ?? [];
    expect(puts.length).toBeGreaterThan(0);
    expect(encrypted.length).toBeGreaterThanOrEqual(puts.length);
  });
});

function failureLinesOf(id: string) {
  return sump.lines.filter(({ message, envelopeId }) => message === 'failure' && envelopeId === id);
}
