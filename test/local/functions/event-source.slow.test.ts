import { ChangeMessageVisibilityBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { queueDepths } from '../../../lib/adapters/sqs/queue-depths.ts';
import { sdkSqs } from '../../../lib/adapters/sqs/sdk-sqs.ts';
import { systemClock } from '../../../lib/adapters/system/system.ts';
import { queuePlan } from '../../../lib/config/plan/queue-plan.ts';
import { sqsEventQueue } from '../../../lib/local/functions/event-queue.ts';
import {
  type BatchReport,
  type EventSource,
  type EventSourceOptions,
  eventSource,
} from '../../../lib/local/functions/event-source.ts';
import type { InvocationEnd } from '../../../lib/local/functions/invocation.ts';
import { batchesThatFit } from '../../../lib/local/functions/sqs-event.ts';
import { freePort } from '../../sidecar/free-port.ts';
import { endProcesses, pause, temporaryFolder, until } from '../../sidecar/sidecar-process.ts';
import { ensurePair, type QueuePair, startTestEngines, type TestEngines } from '../test-engines.ts';

/** The poller between a real queue and a simulated function. */

let local: TestEngines;
let pair: QueuePair;
let sources: EventSource[];
let invocations: SQSRecord[][];
let reports: BatchReport[];
let warnings: string[];

async function useEngines(started: TestEngines): Promise<void> {
  local = started;
  // Messages do not become visible again during a test, even on a busy machine.
  pair = await ensurePair(local.sqs, 'score', { ...queuePlan(600), maxReceiveCount: 2 });
}

beforeEach(async () => {
  [sources, invocations, reports, warnings] = [[], [], [], []];
  await useEngines(await startTestEngines());
});
afterEach(async () => {
  // Long polls would each take a second to end.
  const stopped = sources.map((source) => source.stop(500));
  await local.close();
  await Promise.all(stopped);
});

afterAll(endProcesses);

type Answer = (records: readonly SQSRecord[]) => InvocationEnd | Promise<InvocationEnd>;
const DONE: InvocationEnd = { ok: true, response: undefined };
const LONG_MS = 60_000;

function listen(answer: Answer, more: Partial<EventSourceOptions> = {}): EventSource {
  const source = eventSource({
    queue: sqsEventQueue(local.sqs, pair.queue),
    batchSize: 10,
    batchWindowSeconds: 0,
    maximumConcurrency: 2,
    invoke: async (event) => {
      const { Records } = event as SQSEvent;
      invocations.push(Records);
      return answer(Records);
    },
    onWarning: (text) => warnings.push(text),
    onBatch: (batch) => reports.push(batch),
    ...more,
  });
  sources.push(source);
  return source;
}

const send = (...bodies: string[]) => local.send(pair.queue.url, ...bodies);
const depths = () => queueDepths(sdkSqs(local.sqs), 'score');
const EMPTY = { visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 };
const untilEmpty = () =>
  until(async () => JSON.stringify(await depths()) === JSON.stringify(EMPTY), 'the queue is empty');
/** Makes received messages visible again, as after their visibility timeout. */
async function expire(records: readonly SQSRecord[]): Promise<void> {
  const Entries = records.map(({ receiptHandle: ReceiptHandle }, index) => ({
    Id: String(index),
    ReceiptHandle,
    VisibilityTimeout: 0,
  }));
  await local.sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: pair.queue.url, Entries }));
}
const bodies = () => invocations.map((records) => records.map(({ body }) => body));

test('invokes the function with an SQS event, and deletes processed messages', async () => {
  const sentAt = Date.now();
  await local.sqs.send(
    new SendMessageCommand({
      QueueUrl: pair.queue.url,
      MessageBody: '{"a":"ü"}',
      MessageAttributes: { kind: { DataType: 'String', StringValue: 'test' } },
    }),
  );
  listen(() => DONE);
  await untilEmpty();
  expect(invocations).toEqual([
    [
      {
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        receiptHandle: expect.any(String),
        body: '{"a":"ü"}',
        attributes: {
          ApproximateReceiveCount: '1',
          SentTimestamp: expect.stringMatching(/^\d{13}$/),
          SenderId: expect.any(String),
          ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
        },
        messageAttributes: {
          kind: { dataType: 'String', stringValue: 'test', stringListValues: [], binaryListValues: [] },
        },
        md5OfBody: expect.stringMatching(/^[0-9a-f]{32}$/),
        md5OfMessageAttributes: expect.any(String),
        eventSource: 'aws:sqs',
        eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:score',
        awsRegion: 'us-east-1',
      },
    ],
  ]);
  expect(Number(invocations[0]?.[0]?.attributes.SentTimestamp)).toBeGreaterThanOrEqual(sentAt);
  await until(() => reports.length > 0, 'the batch is reported');
  expect(reports).toMatchObject([{ queue: 'score', messages: 1, failed: new Set() }]);
});

describe('a batch', () => {
  test('is not larger than the batch size', async () => {
    await send('1', '2', '3', '4', '5');
    listen(() => DONE, { batchSize: 2, maximumConcurrency: 1 });
    await untilEmpty();
    expect(bodies()).toEqual([['1', '2'], ['3', '4'], ['5']]);
  });

  test('waits for the batch window, or until it is full', async () => {
    let now = 0;
    const clock = { now: () => now, sleep: systemClock.sleep };
    const inFlight = (count: number) =>
      until(async () => (await depths())?.inFlight === count, `${count} are received`);
    const first = listen(() => DONE, { batchSize: 3, batchWindowSeconds: 2, clock });
    await send('1');
    await inFlight(1);
    await send('2');
    await inFlight(2);
    expect(invocations).toEqual([]);
    now += 2_000;
    await until(() => invocations.length === 1, 'the window is over');
    await untilEmpty();
    await first.stop(LONG_MS);
    listen(() => DONE, { batchSize: 3, batchWindowSeconds: 2, clock });
    await send('3', '4');
    await inFlight(2);
    expect(invocations.length).toBe(1);
    await send('5');
    await until(() => invocations.length === 2, 'the batch is full');
    expect(bodies()).toEqual([
      ['1', '2'],
      ['3', '4', '5'],
    ]);
  });

  test('that is too large for an invocation is split', () => {
    const messages = [50, 30, 10, 200, 10].map((length) => ({ Body: 'x'.repeat(length) }));
    const lengths = batchesThatFit(messages, 3_100).map((batch) => batch.map(({ Body = '' }) => Body.length));
    expect(lengths).toEqual([
      [50, 30, 10],
      [200, 10],
    ]);
    expect(batchesThatFit(messages.slice(0, 2), 10).length).toBe(2);
  });
});

test('limits concurrent invocations', async () => {
  let [running, mostRunning] = [0, 0];
  const release = Promise.withResolvers<void>();
  await send('1', '2', '3', '4', '5', '6');
  listen(
    async () => {
      mostRunning = Math.max(mostRunning, ++running);
      await release.promise;
      running--;
      return DONE;
    },
    { batchSize: 1, maximumConcurrency: 3 },
  );
  await until(() => running === 3, 'three invocations run');
  await pause(300);
  expect(await depths()).toMatchObject({ visible: 3, inFlight: 3 });
  release.resolve();
  await untilEmpty();
  expect(mostRunning).toBe(3);
  expect(invocations.length).toBe(6);
});

describe('failed messages are delivered again', () => {
  test('only the listed ones, until the dead-letter queue receives them', async () => {
    await send('good', 'bad', 'fine');
    listen(
      async (records) => {
        const failed = records.filter(({ body }) => body === 'bad');
        await expire(failed);
        const batchItemFailures = failed.map(({ messageId }) => ({ itemIdentifier: messageId }));
        return { ok: true, response: { batchItemFailures } };
      },
      { maximumConcurrency: 1 },
    );
    await until(async () => (await depths())?.deadLettered === 1, 'it is dead-lettered');
    expect(bodies()).toEqual([['good', 'bad', 'fine'], ['bad']]);
    expect(invocations[1]?.[0]?.attributes.ApproximateReceiveCount).toBe('2');
    expect(await depths()).toEqual({ ...EMPTY, deadLettered: 1 });
    expect(reports.map(({ failed }) => failed.size)).toEqual([1, 1]);
  });

  test('all of the batch after an error or an unknown id', async () => {
    await send('1', '2');
    const ends: InvocationEnd[] = [
      { ok: false, problem: 'it was killed' },
      { ok: true, response: { batchItemFailures: [{ itemIdentifier: 'unknown' }] } },
    ];
    listen(
      async (records) => {
        await expire(records);
        return ends.shift() ?? DONE;
      },
      { maximumConcurrency: 1 },
    );
    await until(async () => (await depths())?.deadLettered === 2, 'they are dead-lettered');
    expect(bodies().map((batch) => batch.sort())).toEqual([
      ['1', '2'],
      ['1', '2'],
    ]);
    expect(reports.map(({ problem }) => problem)).toEqual([
      'it was killed',
      expect.stringContaining('expected the itemIdentifier of a message in the batch'),
    ]);
  });
});

test('several queues can share a function, which receives the source of each message', async () => {
  listen(() => DONE);
  listen(() => DONE, { queue: sqsEventQueue(local.sqs, pair.deadLetterQueue) });
  await send('alive');
  await local.send(pair.deadLetterQueue.url, 'dead');
  await untilEmpty();
  const sourceOf = invocations.flat().map(({ body, eventSourceARN }) => [body, eventSourceARN]);
  expect(Object.fromEntries(sourceOf)).toEqual({
    alive: pair.queue.arn,
    dead: pair.deadLetterQueue.arn,
  });
});

test('does not poll while the function cannot be loaded', async () => {
  await send('1');
  const usable = Promise.withResolvers<void>();
  listen(() => DONE, { untilUsable: () => usable.promise });
  await pause(300);
  expect(await depths()).toMatchObject({ visible: 1, inFlight: 0 });
  usable.resolve();
  await untilEmpty();
  expect(invocations[0]?.[0]?.attributes.ApproximateReceiveCount).toBe('1');
});

test('warns once while the queue does not respond, and continues afterwards', async () => {
  const [dataDir, sqsPort] = [await temporaryFolder(), await freePort()];
  await local.close();
  await useEngines(await startTestEngines({ dataDir, sqsPort }));
  await send('kept');
  await local.engines.close();
  listen(() => DONE);
  await until(() => warnings.length > 0, 'there is a warning');
  await pause(500);
  expect(warnings).toEqual([expect.stringMatching(/^queue "score" does not respond: .*ECONNREFUSED/)]);
  local.sqs.destroy();
  await useEngines(await startTestEngines({ dataDir, sqsPort }));
  await untilEmpty();
  expect(bodies()).toEqual([['kept']]);
  expect(warnings.length).toBe(1);
});

describe('stopping', () => {
  test('waits for invocations in progress and stops polling', async () => {
    const release = Promise.withResolvers<void>();
    const source = listen(() => release.promise.then(() => DONE));
    await send('1');
    await until(() => source.running === 1, 'the invocation runs');
    const stopped = source.stop(LONG_MS);
    setTimeout(() => release.resolve(), 200);
    expect(await stopped).toBe(0);
    await send('2');
    await pause(200);
    expect(await depths()).toEqual({ ...EMPTY, visible: 1 });
  });

  test('stops waiting after the grace period', async () => {
    const source = listen(() => new Promise<InvocationEnd>(() => {}));
    await send('1');
    await until(() => source.running === 1, 'the invocation runs');
    expect(await source.stop(100)).toBe(1);
  });

  test('releases messages that wait for their batch to fill', async () => {
    const source = listen(() => DONE, { batchWindowSeconds: 60 });
    await send('1');
    await until(async () => (await depths())?.inFlight === 1, 'it is received');
    expect(await source.stop(LONG_MS)).toBe(0);
    expect(await depths()).toEqual({ ...EMPTY, visible: 1 });
    expect(invocations).toEqual([]);
  });
});
