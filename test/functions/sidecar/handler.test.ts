import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { envelopeAt } from '../../sidecar/envelopes.ts';
import { pythonRuntime, until } from '../../sidecar/sidecar-process.ts';
import { type Stage, setStage } from '../../sidecar/stage.ts';
import { isAlive, pidsIn } from '../../support/pids.ts';
import { type LambdaProcess, recordOf, startLambda } from './lambda-process.ts';

/** The sidecar on Lambda: an event of records in, a partial batch response out, and everything sent that was due. */

let stage: Stage;
let lambda: LambdaProcess;
const pidFile = () => join(stage.folder, 'lambda.pid');
const counterFile = () => join(stage.folder, randomUUID());

beforeAll(async () => {
  stage = await setStage('x-sink', 'store', 'score');
  lambda = startLambda(
    stage.variables('score', {
      ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
      // Long enough that a busy machine starts a runtime in it.
      ASYA_RESILIENCY_ACTOR_TIMEOUT: '10s',
      PID_FILE: pidFile(),
    }),
  );
  await lambda.loaded;
});
afterAll(() => stage.close());

const scored = (payload: unknown, more = {}) => envelopeAt('score', payload, more);
const record = (payload: unknown, more = {}) => recordOf('score', scored(payload, more));
const idOf = ({ body }: { readonly body: string }): string => JSON.parse(body).id;
const onTo = (...next: string[]) => ({ route: { prev: [], curr: 'score', next } });
const DONE = { batchItemFailures: [] };

test('the runtime is started in the init phase, before any event', async () => {
  await until(() => pidsIn(pidFile()).length > 0, 'the runtime is started');
  expect(pidsIn(pidFile()).map(isAlive)).toEqual([true]);
  expect(lambda.lines.filter(({ message }) => message === 'delivery')).toEqual([]);
});

describe('a batch', () => {
  test('of which each record had its outcome is done, and the runtime is the same for the next', async () => {
    const value = record({ value: 1 }, onTo('store'));
    const many = record({ value: ['a', 'b'] });
    const failing = record({ do: 'raise', error: 'ValueError' });
    expect(await lambda.invoke([value, many, failing])).toEqual(DONE);
    expect((await stage.inbox.next('store', idOf(value))).payload).toBe(1);
    expect((await stage.inbox.next('x-sink', idOf(many))).payload).toBe('a');
    await stage.inbox.nextWhere('x-sink', ({ payload }) => payload === 'b', 'the second item');
    expect((await stage.inbox.next('x-sink', idOf(failing))).status).toMatchObject({
      reason: 'RuntimeError',
    });

    const next = record({ value: 2 });
    expect(await lambda.invoke([next])).toEqual(DONE);
    expect((await stage.inbox.next('x-sink', idOf(next))).payload).toBe(2);
    expect(pidsIn(pidFile()).length).toBe(1);
  });

  test('of none is done', async () => {
    expect(await lambda.invoke([])).toEqual(DONE);
  });

  test('with records that nobody can read: they fail in x-sink, and the others are done', async () => {
    const good = record({ value: 'good' });
    const bodies = ['{not json', '[]', `{"id":"half-${randomUUID()}"}`];
    const bad = bodies.map((body) => recordOf('score', body));
    expect(await lambda.invoke([...bad.slice(0, 2), good, ...bad.slice(2)])).toEqual(DONE);
    for (const body of bodies) {
      const isIt = ({ payload }: { payload: unknown }) => (payload as { raw?: string }).raw === body;
      const { status } = await stage.inbox.nextWhere('x-sink', isIt, body);
      expect(status?.reason).toMatch(/ParseError|ValidationError/);
    }
    expect((await stage.inbox.next('x-sink', idOf(good))).payload).toBe('good');
  });

  test('with a record whose send is refused: only that one comes again, after a pause', async () => {
    const lost = scored({ value: 1 }, onTo('nowhere'));
    await stage.sqs.send('score', JSON.stringify(lost));
    const { Messages = [] } = await stage.sqs.client.send(
      new ReceiveMessageCommand({
        QueueUrl: `${stage.sqs.endpoint}/000000000000/score`,
        VisibilityTimeout: 600,
      }),
    );
    const refused = recordOf('score', lost, { receiptHandle: Messages[0]?.ReceiptHandle ?? '' });
    const good = record({ value: 'kept' });
    const before = Date.now();
    expect(await lambda.invoke([refused, good])).toEqual({
      batchItemFailures: [{ itemIdentifier: refused.messageId }],
    });
    const after = Date.now();
    expect((await stage.inbox.next('x-sink', idOf(good))).payload).toBe('kept');
    // An outage of minutes must not burn its receives, nor the whole time of a call be waited for.
    const [hiddenUntil = 0] = await stage.sqs.hiddenUntil('score');
    expect(hiddenUntil).toBeGreaterThanOrEqual(before + 15_000);
    expect(hiddenUntil).toBeLessThanOrEqual(after + 15_000);
  });

  test('with a record that is a bug’s victim: only that one comes again', async () => {
    const { attributes: _attributes, ...victim } = record({ value: 1 });
    const good = record({ value: 'unharmed' });
    const response = await lambda.invoke([victim as never, good]);
    expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: victim.messageId }] });
    expect((await stage.inbox.next('x-sink', idOf(good))).payload).toBe('unharmed');
  });
});

describe('time', () => {
  test('too little of it for a call: the record is sent again unchanged, and is not a failure', async () => {
    const counter = counterFile();
    const late = scored(
      { value: 1, counter },
      { status: { phase: 'retrying', actor: 'score', attempt: 3, created_at: '2026-01-01T00:00:00Z' } },
    );
    expect(await lambda.invoke([recordOf('score', late)], 3_000)).toEqual(DONE);
    const { body: _body, arrivedAt: _at, ...back } = await stage.inbox.next('score', late.id);
    expect(back).toEqual(late);
    expect(existsSync(counter)).toBe(false);
  });

  test('that runs out during a batch: the rest is sent again, what was begun is finished', async () => {
    const counter = counterFile();
    const records = [{ value: 1 }, { value: 2, counter }, { value: 3 }].map((payload) => record(payload));
    expect(await lambda.invoke(records, 60_000, counter)).toEqual(DONE);
    const [first, second, third] = records.map(idOf);
    expect((await stage.inbox.next('x-sink', first ?? '')).payload).toBe(1);
    expect((await stage.inbox.next('x-sink', second ?? '')).payload).toBe(2);
    expect((await stage.inbox.next('score', third ?? '')).status).toBeUndefined();
  });

  test('a call that hangs: the child is killed, the function lives on', async () => {
    const hung = record({ do: 'hang' });
    const behind = record({ value: 'behind' });
    expect(await lambda.invoke([hung, behind])).toEqual(DONE);
    expect((await stage.inbox.next('x-sink', idOf(hung))).status).toMatchObject({ reason: 'ActorTimeout' });
    expect((await stage.inbox.next('x-sink', idOf(behind))).payload).toBe('behind');
    expect(pidsIn(pidFile()).map(isAlive)).toEqual([false, true]);
  });
});

describe('with three calls at once', () => {
  let wide: LambdaProcess;
  beforeAll(async () => {
    wide = startLambda(
      stage.variables('wide', {
        ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
        ASYA_RESILIENCY_ACTOR_TIMEOUT: '20s',
        ASYA_CONCURRENCY: '3',
      }),
    );
    await wide.loaded;
    await wide.invoke([recordOf('wide', envelopeAt('wide', { value: 'warm' }))]);
  });

  test('a slow record holds back neither the calls nor the sends of the others', async () => {
    const file = counterFile();
    const slow = envelopeAt('wide', { do: 'wait', file, value: 'slow' });
    const quick = Array.from({ length: 6 }, (_, n) => envelopeAt('wide', { value: n }));
    const invocation = wide.invoke(
      [slow, ...quick].map((envelope) => recordOf('wide', envelope)),
      900_000,
    );
    for (const { id } of quick) await stage.inbox.next('x-sink', id);
    writeFileSync(file, '');
    expect(await invocation).toEqual(DONE);
    expect((await stage.inbox.next('x-sink', slow.id)).payload).toBe('slow');
  });
});

test("a function's timeout below a call's is refused each time, and one that was used up by loading only once", async () => {
  const brief = startLambda(
    stage.variables('brief', { ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle') }),
  );
  const one = recordOf('brief', envelopeAt('brief', { value: 1 }));
  for (let time = 0; time < 2; time++) {
    // Sent again for ever, it would never reach the dead-letter queue.
    await expect(brief.invoke([one], 60_000)).rejects.toThrow(/set the timeout to 303 s or more/);
  }
  // After a crash the function is loaded within an invocation's time, which says nothing of the next one's.
  expect(await brief.invoke([one], 400_000)).toEqual(DONE);
});

test('an end actor whose runtime fails keeps the record', async () => {
  const archive = startLambda(
    stage.variables('archive', {
      ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
      ASYA_IS_END_ACTOR: 'true',
    }),
  );
  await stage.sqs.createQueue('archive');
  const failing = recordOf('archive', envelopeAt('archive', { do: 'raise', error: 'ValueError' }));
  const fine = recordOf('archive', envelopeAt('archive', { value: 1 }));
  expect(await archive.invoke([failing, fine], 900_000)).toEqual({
    batchItemFailures: [{ itemIdentifier: failing.messageId }],
  });
});

test('a mistaken configuration fails the init phase, with every mistake', async () => {
  const mistaken = startLambda({ ASYA_ACTOR_NAME: 'score', ASYA_CONCURENCY: '3', ASYA_FANOUT: 'maybe' });
  expect((await mistaken.untilExit()).code).not.toBe(0);
  for (const word of ['ASYA_CONCURRENCY', 'ASYA_FANOUT', '2 mistakes'])
    expect(mistaken.errorOutput()).toContain(word);
});

interface EmfLine {
  readonly _aws?: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
  readonly [name: string]: unknown;
}

describe('metrics', () => {
  test('are printed in the embedded format at the end of each invocation, and add up', async () => {
    const before = lambda.lines.length;
    const good = record({ value: 1 }, onTo('store'));
    await lambda.invoke([good, record({ value: [1, 2] }), record({ do: 'raise', error: 'KeyError' })]);
    // Each begins with what was received: when the next one's do, this one's have all been read.
    await lambda.invoke([record({ value: 'next' })]);
    const receipts = () => emfSince(before).filter((line) => 'MessagesReceivedTotal' in line);
    await until(() => receipts().length > 1, 'the metrics of both');
    const all = emfSince(before);
    const lines = all.slice(0, all.indexOf(receipts()[1] as EmfLine));
    for (const line of lines) {
      const [directive] = line._aws?.CloudWatchMetrics ?? [];
      expect(directive?.Namespace).toBe('asya_actor');
      for (const { Name } of directive?.Metrics ?? []) expect(Name).toMatch(/^([A-Z][a-z]+)+$/);
      // An envelope's id would be a dimension of its own for each of them.
      expect(JSON.stringify(line)).not.toContain(idOf(good));
    }
    expect(sumOf(lines, 'MessagesReceivedTotal', { queue: 'score', transport: 'sqs' })).toBe(3);
    expect(sumOf(lines, 'MessagesTotal', { queue: 'score', result: 'success' })).toBe(2);
    expect(sumOf(lines, 'MessagesTotal', { queue: 'score', result: 'error' })).toBe(1);
    expect(sumOf(lines, 'MessagesFailedTotal', { queue: 'score', reason: 'runtime_error' })).toBe(1);
    expect(sumOf(lines, 'RuntimeErrorsTotal', { queue: 'score', error_type: 'execution' })).toBe(1);
    expect(sumOf(lines, 'MessagesSentTotal', { destination_queue: 'store', message_type: 'next' })).toBe(1);
    expect(sumOf(lines, 'MessagesSentTotal', { destination_queue: 'x-sink', message_type: 'sink' })).toBe(3);
    expect(valuesOf(lines, 'ProcessingDurationSeconds', { queue: 'score' }).length).toBe(3);
    expect(valuesOf(lines, 'RuntimeExecutionDurationSeconds', { queue: 'score' }).length).toBe(3);
    expect(valuesOf(lines, 'MessageSizeBytes', { direction: 'sent' }).length).toBe(4);
  });

  function emfSince(from: number): readonly EmfLine[] {
    return (lambda.lines.slice(from) as readonly EmfLine[]).filter(({ _aws }) => _aws !== undefined);
  }

  function valuesOf(lines: readonly EmfLine[], name: string, dimensions: Record<string, string>): number[] {
    return lines
      .filter((line) => Object.entries(dimensions).every(([key, value]) => line[key] === value))
      .flatMap((line) => (line[name] === undefined ? [] : (line[name] as number | number[])));
  }

  function sumOf(lines: readonly EmfLine[], name: string, dimensions: Record<string, string>): number {
    return valuesOf(lines, name, dimensions).reduce((sum, value) => sum + value, 0);
  }
});
