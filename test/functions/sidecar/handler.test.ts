import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOST_RESERVE_MS } from '../../../lib/config/settings/host-config.ts';
import { envelopeAt } from '../../sidecar/envelopes.ts';
import { pythonRuntime, until } from '../../sidecar/sidecar-process.ts';
import { type Stage, setStage } from '../../sidecar/stage.ts';
import { isAlive, pidsIn } from '../../support/pids.ts';
import { functionVariables, type LambdaProcess, recordOf, startLambda } from './lambda-process.ts';

/** The sidecar on Lambda: it receives an event with records, sends their results, and returns a partial batch response. */

let stage: Stage;
let lambda: LambdaProcess;
const pidFile = () => join(stage.folder, 'lambda.pid');
const counterFile = () => join(stage.folder, randomUUID());

beforeAll(async () => {
  stage = await setStage('x-sink', 'store', 'score');
  lambda = startLambda(
    functionVariables(stage, 'score', {
      ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
      // Long enough to start a runtime on a busy machine.
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

test('starts the runtime in the init phase, before any event', async () => {
  await until(() => pidsIn(pidFile()).length > 0, 'the runtime is started');
  expect(pidsIn(pidFile()).map(isAlive)).toEqual([true]);
  expect(lambda.lines.filter(({ message }) => message === 'delivery')).toEqual([]);
});

describe('a batch', () => {
  test('is done when each record has its outcome, and the next batch uses the same runtime', async () => {
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

  test('without records is done', async () => {
    expect(await lambda.invoke([])).toEqual(DONE);
  });

  test('with unreadable records: they are sent to x-sink as failed, and the others are processed', async () => {
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

  test('with a record whose send is refused: only that one is redelivered, after a pause', async () => {
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
    // Not at once, or an outage of minutes would use up its receives; and not after the whole visibility timeout.
    const [hiddenUntil = 0] = await stage.sqs.hiddenUntil('score');
    expect(hiddenUntil).toBeGreaterThanOrEqual(before + 15_000);
    expect(hiddenUntil).toBeLessThanOrEqual(after + 15_000);
  });

  test('with a record that causes an exception: only that one is redelivered', async () => {
    const { attributes: _attributes, ...incomplete } = record({ value: 1 });
    const good = record({ value: 'good' });
    const response = await lambda.invoke([incomplete as never, good]);
    expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: incomplete.messageId }] });
    expect((await stage.inbox.next('x-sink', idOf(good))).payload).toBe('good');
  });
});

describe('remaining time', () => {
  test('too short for a call: the envelope is sent to its queue again unchanged, without a failure', async () => {
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

  test('that runs out during a batch: the current record is finished, the others are sent again', async () => {
    const counter = counterFile();
    const slow = { do: 'sleep', seconds: 3.5, value: 2 };
    const records = [{ value: 1 }, slow, { value: 3, counter }].map((payload) => record(payload));
    // The third call is sent to the runtime at once, when there are 3 s more than a call may take.
    expect(await lambda.invoke(records, 10_000 + HOST_RESERVE_MS + 3_000)).toEqual(DONE);
    const [first, second, third] = records.map(idOf);
    expect((await stage.inbox.next('x-sink', first ?? '')).payload).toBe(1);
    expect((await stage.inbox.next('x-sink', second ?? '')).payload).toBe(2);
    expect((await stage.inbox.next('score', third ?? '')).status).toBeUndefined();
    expect(existsSync(counter)).toBe(false);
  });

  test('during a call that hangs: the runtime is killed, and the function continues', async () => {
    const hung = record({ do: 'hang' });
    const behind = record({ value: 'behind' });
    expect(await lambda.invoke([hung, behind])).toEqual(DONE);
    expect((await stage.inbox.next('x-sink', idOf(hung))).status).toMatchObject({ reason: 'ActorTimeout' });
    expect((await stage.inbox.next('x-sink', idOf(behind))).payload).toBe('behind');
    expect(pidsIn(pidFile()).map(isAlive)).toEqual([false, true]);
  });
});

describe('a concurrency of three', () => {
  let wide: LambdaProcess;
  beforeAll(async () => {
    wide = startLambda(
      functionVariables(stage, 'wide', {
        ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
        ASYA_RESILIENCY_ACTOR_TIMEOUT: '20s',
        ASYA_CONCURRENCY: '3',
      }),
    );
    await wide.loaded;
    await wide.invoke([recordOf('wide', envelopeAt('wide', { value: 'warm' }))]);
  });

  test('lets a slow record delay neither the calls nor the sends of the others', async () => {
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

test('rejects an invocation whose time is below the actor timeout, and accepts a longer one', async () => {
  const brief = startLambda(
    functionVariables(stage, 'brief', { ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle') }),
  );
  const one = recordOf('brief', envelopeAt('brief', { value: 1 }));
  for (let time = 0; time < 2; time++) {
    // Sending the record again each time would keep it from the dead-letter queue.
    await expect(brief.invoke([one], 60_000)).rejects.toThrow(/set the function's timeout to 303 s or more/);
  }
  // After a crash, loading counts towards an invocation's time; the next invocation may have enough.
  expect(await brief.invoke([one], 400_000)).toEqual(DONE);
});

test('does not acknowledge the record of an end actor whose runtime fails', async () => {
  const archive = startLambda(
    functionVariables(stage, 'archive', {
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

test('fails in the init phase with all mistakes of a wrong configuration', async () => {
  const misconfigured = startLambda({ ASYA_ACTOR_NAME: 'score', ASYA_CONCURENCY: '3', ASYA_FANOUT: 'maybe' });
  expect((await misconfigured.untilExit()).code).not.toBe(0);
  for (const word of ['ASYA_CONCURRENCY', 'ASYA_FANOUT', '2 mistakes'])
    expect(misconfigured.errorOutput()).toContain(word);
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
  test('are printed in the embedded metric format at the end of each invocation, with correct sums', async () => {
    const before = lambda.lines.length;
    const good = record({ value: 1 }, onTo('store'));
    await lambda.invoke([good, record({ value: [1, 2] }), record({ do: 'raise', error: 'KeyError' })]);
    // The first metric of an invocation counts received messages: when the next one's is printed, all of this one are.
    await lambda.invoke([record({ value: 'next' })]);
    const receipts = () => emfSince(before).filter((line) => 'MessagesReceivedTotal' in line);
    await until(() => receipts().length > 1, 'the metrics of both');
    const all = emfSince(before);
    const lines = all.slice(0, all.indexOf(receipts()[1] as EmfLine));
    for (const line of lines) {
      const [directive] = line._aws?.CloudWatchMetrics ?? [];
      expect(directive?.Namespace).toBe('asya_actor');
      for (const { Name } of directive?.Metrics ?? []) expect(Name).toMatch(/^([A-Z][a-z]+)+$/);
      // An envelope's id would create a new metric for each envelope.
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
