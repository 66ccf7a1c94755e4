import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deriveId } from '../../lib/adapters/system/system.ts';
import type { Failure } from '../../lib/core/failure/failure.ts';
import type { EndRecord } from '../../lib/core/failure/record.ts';
import type { Cursor, FailureFilter } from '../../lib/ports/failure-index.ts';
import { envelopeAt, type Wire } from '../sidecar/envelopes.ts';
import { metricsPort, type RunningProcess, saying, startProcess, until } from '../sidecar/sidecar-process.ts';
import { type CrewStage, ended, failed, PAYLOAD, SECRET, setCrewStage } from './crew-stage.ts';

/** The crew as long-running workers on real queues. */

const FREEZE_AT = join(import.meta.dirname, '../sidecar/freeze-at.ts');
const SHORT_TIMEOUT = {
  ASYA_RESILIENCY_ACTOR_TIMEOUT: '5s',
  ASYA_SQS_VISIBILITY_TIMEOUT: '6',
  ASYA_CONCURRENCY: '10',
};

const LONG_TIMEOUT = {
  ...SHORT_TIMEOUT,
  ASYA_RESILIENCY_ACTOR_TIMEOUT: '20s',
  ASYA_SQS_VISIBILITY_TIMEOUT: '21',
};

let stage: CrewStage;
const workers: RunningProcess[] = [];
beforeAll(async () => {
  stage = await setCrewStage('x-sink', 'x-sump', 'score', 'fragile');
});
afterAll(() => stage.close());

const send = (queue: string, envelope: Wire) => stage.sqs.send(queue, JSON.stringify(envelope));

async function isEmpty(queue: string): Promise<boolean> {
  const { visible, hidden, delayed } = await stage.sqs.counts(queue);
  return visible + hidden + delayed === 0;
}

async function recordsOf(id: string): Promise<readonly EndRecord[]> {
  const ends = await stage.stores.records.ofEnvelope(id);
  return ends.ok ? ends.records : [];
}

async function failuresOf(id: string): Promise<readonly Failure[]> {
  const page = await stage.stores.failures.ofEnvelope(id);
  return page.ok ? page.failures : [];
}

async function listed(filter: FailureFilter): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  let cursor: Cursor | undefined;
  do {
    const page = await stage.stores.failures.list(filter, cursor);
    if (!page.ok) throw new Error(page.problem);
    failures.push(...page.failures);
    cursor = page.next;
  } while (cursor !== undefined);
  return failures;
}

describe('SIGKILL of x-sink', () => {
  test.each([
    ['after archiving, before forwarding', 'called', 0],
    ['after forwarding, before the ack', 'sent', 1],
  ])(
    '%s: the envelope is forwarded after redelivery, and archived once',
    async (_when, step, alreadySent) => {
      // Separate queues: the engine may deliver a message to a long poll whose client was killed.
      const namespace = `after-${step}`;
      const [sink, queue] = [`asya-${namespace}-x-sink`, `asya-${namespace}-x-sump`];
      for (const one of [sink, queue]) await stage.sqs.createQueue(one);
      const settings = { ...SHORT_TIMEOUT, ASYA_NAMESPACE: namespace };
      const variables = stage.variablesOf('x-sink', settings);
      const envelope = failed('killed in between');
      await send(sink, envelope);
      const killed = startProcess([FREEZE_AT, step], variables);
      await killed.untilLine(saying('frozen'));
      const { key, envelope: archived } = await stage.archived(envelope.id);
      expect(archived).toEqual(envelope);
      expect((await stage.sqs.counts(queue)).visible).toBe(alreadySent);
      killed.signal('SIGKILL');
      await killed.exited;

      const successor = await stage.worker('x-sink', { ...settings, ...LONG_TIMEOUT });
      const messages = await stage.sqs.takeUntil(queue, 1 + alreadySent);
      expect(messages.map(({ Body = '' }) => JSON.parse(Body))).toEqual(
        Array(1 + alreadySent).fill(envelope),
      );
      await until(() => isEmpty(sink), 'it is acknowledged');
      expect((await stage.archived(envelope.id)).key).toBe(key);
      successor.signal('SIGTERM');
      expect(await successor.untilExit()).toEqual({ code: 0, signal: null });
    },
  );
});

describe('SIGKILL of x-sink with a batch of succeeded envelopes', () => {
  const three = () => [ended(), ended(), ended()];

  async function startWith(namespace: string, envelopes: readonly Wire[]) {
    const sink = `asya-${namespace}-x-sink`;
    for (const one of [sink, `asya-${namespace}-x-sump`]) await stage.sqs.createQueue(one);
    for (const envelope of envelopes) await send(sink, envelope);
    return { sink, settings: { ...SHORT_TIMEOUT, ASYA_NAMESPACE: namespace } };
  }

  /** Lets a successor process the messages, and expects that each envelope is archived once. */
  async function expectRecovery(sink: string, settings: object, envelopes: readonly Wire[]): Promise<void> {
    const successor = await stage.worker('x-sink', { ...settings, ...LONG_TIMEOUT });
    await until(() => isEmpty(sink), 'all are acknowledged');
    for (const envelope of envelopes) {
      const [record, ...others] = await recordsOf(envelope.id);
      expect(others).toEqual([]);
      const got = await stage.stores.archive.get(record?.archiveKey ?? '');
      expect(got.ok && JSON.parse(got.text ?? '')).toEqual(envelope);
      expect(await stage.copiesOf(envelope.id)).toBe(1);
    }
    successor.signal('SIGTERM');
    expect(await successor.untilExit()).toEqual({ code: 0, signal: null });
  }

  test('between the records and the object: each envelope is archived after redelivery', async () => {
    const envelopes = three();
    const { sink, settings } = await startWith('no-object', envelopes);
    await stage.s3.hang();
    const killed = startProcess([FREEZE_AT, 'never'], stage.variablesOf('x-sink', settings));
    for (const { id } of envelopes)
      await until(async () => (await recordsOf(id)).length === 1, 'the end is recorded');
    killed.signal('SIGKILL');
    await killed.exited;
    await stage.s3.recover();
    await expectRecovery(sink, settings, envelopes);
  });

  test('between the object and the ack: the redelivery changes nothing', async () => {
    const envelopes = three();
    const { sink, settings } = await startWith('no-ack', envelopes);
    const killed = startProcess([FREEZE_AT, 'called'], stage.variablesOf('x-sink', settings));
    await killed.untilLine(saying('frozen'));
    const before = await stage.keys();
    killed.signal('SIGKILL');
    await killed.exited;
    await expectRecovery(sink, settings, envelopes);
    expect(await stage.keys()).toEqual(before);
  });
});

describe('a running crew', () => {
  beforeAll(async () => {
    const started = await Promise.all([
      stage.worker('x-sink', LONG_TIMEOUT),
      stage.worker('x-sump', { ...LONG_TIMEOUT, ASYA_METRICS_ADDR: '127.0.0.1:0' }),
      stage.worker('x-dlq', {
        ...SHORT_TIMEOUT,
        ASYA_DEAD_LETTERS_OF: 'score,fragile,x-sink,x-sump,not-there-yet',
        ASYA_QUEUE_RETRY_BACKOFF: '100ms',
      }),
    ]);
    workers.push(...started);
  });

  test('archives a message that the broker dead-lettered, with its receive count', async () => {
    await stage.sqs.createQueue('not-there-yet', {
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:not-there-yet-dlq',
        maxReceiveCount: 1,
      }),
      VisibilityTimeout: '0',
    });
    const envelope = envelopeAt('not-there-yet', PAYLOAD);
    await send('not-there-yet', envelope);
    await until(async () => {
      await stage.sqs.receive('not-there-yet');
      return (await stage.keysOf(envelope.id)).length > 0;
    }, 'x-dlq archived it');
    const { envelope: archived } = await stage.archived(envelope.id);
    const { receive_count } = archived.status as unknown as { receive_count: number };
    expect(receive_count).toBeGreaterThan(0);
  });

  const outages: readonly Wire[] = [failed('in an outage'), failed('in another outage')];

  test('acknowledges nothing while a store is down', async () => {
    const [sink] = workers;
    for (const [at, proxy] of [stage.s3, stage.dynamoDb].entries()) {
      const envelope = outages[at] as Wire;
      await proxy.goDown();
      await send('x-sink', envelope);
      await sink?.untilLine(
        ({ message, envelopeId, settle }) =>
          message === 'delivery' && envelopeId === envelope.id && settle === 'release',
      );
      expect(await isEmpty('x-sink')).toBe(false);
      expect(await stage.keysOf(envelope.id)).toEqual([]);
      await proxy.recover();
    }
  });

  test("drains every dead-letter queue, including the crew's, and archives invalid JSON byte for byte", async () => {
    const queues = ['score', 'fragile', 'x-sink', 'x-sump'];
    const lost = queues.map((queue) => [queue, envelopeAt('score', PAYLOAD)] as const);
    for (const [queue, envelope] of lost) await send(`${queue}-dlq`, envelope);
    const body = `${SECRET}: no JSON at all ü "\\`;
    await stage.sqs.send('fragile-dlq', body);
    for (const queue of queues) await until(() => isEmpty(`${queue}-dlq`), `${queue}-dlq is drained`);
    for (const [actor, { id }] of lost) {
      const { key, envelope } = await stage.archived(id);
      expect(key).toMatch(new RegExp(`^dlq/[-0-9]{10}/${actor}/`));
      expect(envelope).toMatchObject({
        payload: PAYLOAD,
        status: { queue: actor, reason: 'DeliveryExhausted' },
      });
      expect(await failuresOf(id)).toMatchObject([{ actor, archiveKey: key }]);
    }
    const [unreadable, ...others] = (await listed({ actor: 'fragile' })).filter(
      ({ envelopeId }) => envelopeId !== lost[1]?.[1].id,
    );
    expect(others).toEqual([]);
    expect(JSON.parse(await stage.object(unreadable?.archiveKey ?? '')).payload).toEqual({ raw: body });
  });

  test('groups a thousand failures by their five causes', { timeout: 500_000 }, async () => {
    const causes: readonly ((at: number) => Wire)[] = [
      (at) => failed(`no such user: ${at}`),
      (at) => failed(`cannot open /data/in/file-${at}.csv`),
      (at) => failed(`no order "o-${deriveId(at)}" for ${deriveId(at)}`),
      (at) => failed(`no such user: ${at}`, { actor: 'fetch' }),
      (at) => failed('no', { error: { type: 'KeyError', mro: [], message: 'no', traceback: pythonAt(at) } }),
    ];
    const counts = [400, 300, 200, 90, 10];
    const envelopes = counts.flatMap((count, cause) =>
      Array.from({ length: count }, (_, at) => causes[cause]?.(at) as Wire),
    );
    for (let at = 0; at < envelopes.length; at += 50)
      await Promise.all(envelopes.slice(at, at + 50).map((envelope) => send('x-sink', envelope)));
    const ids = new Set(envelopes.map(({ id }) => id));
    const recorded = async () =>
      (await listed({ reason: 'PolicyExhausted' })).filter(({ envelopeId }) => ids.has(envelopeId));
    const isDone = async () => (await stage.sqs.counts('x-sink')).visible === 0 && (await isEmpty('x-sump'));
    await until(isDone, 'all are forwarded', 240_000);
    await until(
      async () => (await recorded()).length === ids.size,
      () => `all are recorded; released:\n${releases()}`,
      240_000,
    );
    const failures = await recorded();
    const groups = Map.groupBy(failures, ({ fingerprint }) => fingerprint);
    expect([...groups.values()].map(({ length }) => length).sort((one, other) => other - one)).toEqual(
      counts,
    );
    expect(new Set(failures.map(({ envelopeId }) => envelopeId)).size).toBe(1_000);
    for (const { archiveKey } of failures.slice(0, 5))
      expect(JSON.parse(await stage.object(archiveKey)).payload).toEqual(PAYLOAD);
    // A failure is counted after it is recorded.
    await until(async () => (await countedFor('fetch')) >= 90, 'those at fetch are counted');
    await until(async () => (await countedFor('score')) >= 910, 'those at score are counted');
    const [group] = groups.keys();
    expect(await listed({ group: group ?? '' })).toHaveLength(groups.get(group ?? '')?.length ?? -1);
  });

  test('stores the envelopes of the outages afterwards', { timeout: 400_000 }, async () => {
    for (const envelope of outages) {
      // A released delivery stays invisible for 15 s, and for a minute if it was a redelivery.
      await until(
        async () => (await failuresOf(envelope.id)).length === 1,
        () => `it is recorded; log lines of the workers:\n${linesOf(envelope.id)}`,
        180_000,
      );
      expect((await stage.archived(envelope.id)).envelope).toEqual(envelope);
    }
    await until(async () => (await isEmpty('x-sink')) && (await isEmpty('x-sump')), 'they are acknowledged');
  });

  test('logs no payload, and exits on SIGTERM', async () => {
    for (const worker of workers) {
      worker.signal('SIGTERM');
      expect(await worker.untilExit()).toEqual({ code: 0, signal: null });
      expect(worker.output()).not.toContain(SECRET);
    }
  });
});

describe('a worker with a wrong configuration reports it and exits', () => {
  test.each([
    ['x-dlq', {}, 'ASYA_DEAD_LETTERS_OF is not set'],
    ['x-dlq', { ASYA_DEAD_LETTERS_OF: 'Score' }, 'ASYA_DEAD_LETTERS_OF: is "Score"'],
  ])('%s with %j', async (name, more, message) => {
    const misconfigured = startProcess([FREEZE_AT, 'never'], stage.variablesOf(name, more));
    expect((await misconfigured.untilExit()).code).toBe(2);
    expect(misconfigured.output()).toContain(message);
  });

  test.each([
    ['a bucket', 'ASYA_ARCHIVE_BUCKET'],
    ['a table', 'ASYA_FAILURE_TABLE'],
  ])('x-sink without %s', async (_setting, name) => {
    const misconfigured = startProcess([FREEZE_AT, 'never'], stage.variablesOf('x-sink', { [name]: '' }));
    expect((await misconfigured.untilExit()).code).toBe(2);
    expect(misconfigured.output()).toContain(`${name} is not set`);
  });
});

function linesOf(id: string): string {
  return workers
    .flatMap((worker) => worker.output().split('\n'))
    .filter((line) => line.includes(id))
    .join('\n');
}

function releases(): string {
  return workers
    .flatMap((worker) => worker.output().split('\n'))
    .filter((line) => /release|"level":"warn/.test(line))
    .join('\n');
}

/** How many failures of an actor x-sump has counted. Redeliveries count again. */
async function countedFor(actor: string): Promise<number> {
  const port = await metricsPort(workers[1] as RunningProcess);
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const series = `asya_actor_failures_recorded_total{actor="${actor}",reason="PolicyExhausted"} `;
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(series))
      ?.slice(series.length),
  );
}

/** A traceback with the same frames for each line number. */
function pythonAt(line: number): string {
  return `Traceback (most recent call last):\n  File "/app/score.py", line ${line}, in score\nKeyError: no`;
}
