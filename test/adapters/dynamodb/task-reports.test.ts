import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { dynamoDbClient } from '../../../lib/adapters/dynamodb/dynamodb-client.ts';
import { dynamoDbTaskStore } from '../../../lib/adapters/dynamodb/dynamodb-task-store.ts';
import { ensureTable, getItem } from '../../../lib/adapters/dynamodb/table.ts';
import { bytesFromTask } from '../../../lib/adapters/dynamodb/task-bytes.ts';
import { systemClock, systemRandom } from '../../../lib/adapters/system/system.ts';
import type { Report } from '../../../lib/core/task/report.ts';
import type { Task } from '../../../lib/core/task/task.ts';
import { cancelTask } from '../../../lib/core/task/task-end.ts';
import { applyReport, applyReports } from '../../../lib/core/task/task-report.ts';
import type { TaskStore } from '../../../lib/ports/task-store.ts';
import { at, NOW } from '../../core/a-delivery.ts';
import { anEndOf, anUpdate, aStep, aTask } from '../../core/a-task.ts';
import { startClientOfDynamoDb } from '../../support/embedded-dynamodb.ts';

const MONTH_SECONDS = 30 * 86_400;

let endpoint: string;
let client: DynamoDBClient;
let store: TaskStore;
const commands: string[] = [];
beforeAll(async () => {
  const dynamoDb = await startClientOfDynamoDb();
  client = dynamoDb.client;
  endpoint = dynamoDb.endpoint;
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        commands.push(commandName.replace('Command', ''));
        return next(args);
      },
    { step: 'initialize' },
  );
  await ensureTable({ client, name: 'tasks' });
  store = dynamoDbTaskStore({ client, name: 'tasks' }, systemClock, systemRandom);
  return dynamoDb.close;
});

async function stored(id: string): Promise<Task | undefined> {
  const got = await store.get(id);
  return got.ok ? got.task : undefined;
}

/** Applies the reports, one request each, and returns what was requested. */
async function report(id: string, reports: readonly Report[]): Promise<readonly string[]> {
  commands.length = 0;
  for (const [nth, one] of reports.entries()) await store.report(id, [one], NOW + nth + 1);
  return commands.slice();
}

/** A root's report, as of a task with this id. */
const of = (id: string, one: Report): Report => ({ ...one, task: id, envelope_id: id });

describe('reports of steps and ends', () => {
  it('are appended without reading the task, and read as if they had been applied', async () => {
    const reports = [aStep('processing', 0), aStep('processing', 1), anEndOf('succeeded')].map((one) =>
      of('flow', one),
    );
    const task = aTask({ id: 'flow' });
    await store.create(task);
    expect(await report('flow', reports)).toEqual(['UpdateItem', 'UpdateItem', 'UpdateItem']);
    const applied = reports.reduce((one, next, nth) => applyReport(one, next, NOW + nth + 1), task);
    expect(await stored('flow')).toEqual(applied);
    expect(await store.list('me')).toMatchObject({ tasks: [applied] });
  });

  it('change nothing if they are late or duplicated, and the first end counts', async () => {
    await store.create(aTask({ id: 'late' }));
    await report('late', [of('late', aStep('processing', 1)), of('late', aStep('processing', 0))]);
    expect((await stored('late'))?.events.map(({ actor }) => actor)).toEqual([undefined, 'score']);
    await report('late', [of('late', anEndOf('succeeded'))]);
    const ended = await stored('late');
    const again = await report('late', [of('late', anEndOf('failed')), of('late', aStep('processing', 2))]);
    expect(again).toEqual(['UpdateItem', 'GetItem', 'UpdateItem', 'GetItem']);
    expect(await stored('late')).toEqual(ended);
  });

  it('are applied once if the answer to the first request was lost', async () => {
    const lossy = dynamoDbClient({ region: 'us-east-1', endpoint }, {});
    let answers = 0;
    lossy.middlewareStack.add(
      (next) => async (args) => {
        const answer = await next(args);
        if (answers++ > 0) return answer;
        throw Object.assign(new Error('the answer was lost'), { name: 'TimeoutError' });
      },
      { step: 'deserialize', priority: 'high' },
    );
    await store.create(aTask({ id: 'lost' }));
    const other = dynamoDbTaskStore({ client: lossy, name: 'tasks' }, systemClock, systemRandom);
    const child = { ...aStep('processing', 1), task: 'lost', envelope_id: 'c-1' };
    await other.report('lost', [of('lost', aStep('processing', 0)), child], NOW);
    expect(answers).toBe(2);
    expect((await stored('lost'))?.events.map(({ type }) => type)).toEqual([
      'created',
      'processing',
      'processing',
    ]);
    lossy.destroy();
  });

  it('of a task that has ended resolve with it, and of an unknown task with nothing', async () => {
    await store.create(aTask({ id: 'gone' }));
    expect(await store.report('gone', [of('gone', aStep('processing', 0))], NOW)).toEqual({ ok: true });
    await store.update('gone', (task) => cancelTask(task, NOW));
    const reply = await store.report('gone', [of('gone', aStep('processing', 1))], NOW);
    expect(reply).toMatchObject({ ok: true, task: { id: 'gone', state: 'canceled' } });
    expect(await store.report('unknown', [of('unknown', anEndOf())], NOW)).toEqual({ ok: true });
    expect(await stored('unknown')).toBeUndefined();
  });

  it('of children are still applied after the end of the root', async () => {
    await store.create(aTask({ id: 'parent' }));
    await report('parent', [of('parent', anEndOf())]);
    await store.report('parent', [{ ...anEndOf('failed'), task: 'parent', envelope_id: 'c-1' }], NOW);
    expect((await stored('parent'))?.children).toMatchObject({ 'c-1': { state: 'failed' } });
  });

  it("of a handler's progress are applied to the task itself", async () => {
    await store.create(aTask({ id: 'progress' }));
    const requests = await report('progress', [
      of('progress', aStep('processing', 0)),
      of('progress', anUpdate(0, 1, { percent: 50 })),
    ]);
    expect(requests).toEqual(['UpdateItem', 'GetItem', 'PutItem']);
    expect((await stored('progress'))?.events.map(({ type }) => type)).toEqual([
      'created',
      'processing',
      'progress',
    ]);
  });
});

describe('the log of a task', () => {
  it('has a few entries at most', async () => {
    const task = aTask({ id: 'long' });
    await store.create(task);
    const reports = Array.from({ length: 40 }, (_, hop) => of('long', aStep('processing', hop)));
    const requests = await report('long', reports);
    expect(requests.filter((name) => name === 'GetItem').length).toBeLessThanOrEqual(5);
    const item = await getItem({ client, name: 'tasks' }, 'task#long');
    expect(item?.['log']?.L?.length ?? 0).toBeLessThanOrEqual(8);
    expect(await stored('long')).toEqual(
      reports.reduce((one, next, nth) => applyReport(one, next, NOW + nth + 1), task),
    );
  });

  it('does not get large', async () => {
    await store.create(aTask({ id: 'wide' }));
    const children = Array.from({ length: 200 }, (_, nth) => ({
      ...anEndOf('failed', { error: { type: 'E', message: crypto.randomUUID().repeat(20) } }),
      task: 'wide',
      envelope_id: `c-${nth}`,
    }));
    commands.length = 0;
    await store.report('wide', children, NOW);
    expect(commands).toEqual(['GetItem', 'PutItem']);
    expect(Object.keys((await stored('wide'))?.children ?? {})).toHaveLength(200);
  });

  it('keeps every change of concurrent writers', async () => {
    const others = [1, 2, 3].map(() =>
      dynamoDbTaskStore({ client, name: 'tasks' }, systemClock, systemRandom),
    );
    await store.create(aTask({ id: 'race' }));
    const childReport = (nth: number) => ({
      ...aStep('processing', 1),
      task: 'race',
      envelope_id: `c-${nth}`,
    });
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, nth) => {
        const writer = others[nth % 3] ?? store;
        return nth % 2 === 0
          ? writer.report('race', [childReport(nth)], NOW)
          : writer.update('race', (task) => applyReports(task, [childReport(nth)], NOW));
      }),
    );
    expect(replies.filter(({ ok }) => !ok)).toEqual([]);
    expect(Object.keys((await stored('race'))?.children ?? {})).toHaveLength(30);
  });

  it('can be appended to an item of an earlier version', async () => {
    const task = aTask({ id: 'old' });
    const Item = {
      pk: { S: 'task#old' },
      owner: { S: 'me' },
      seen_ms: { N: String(NOW) },
      flow: { S: 'enhance' },
      state: { S: 'pending' },
      version: { N: '1' },
      task: { B: bytesFromTask(task) },
      expires_at: { N: '1' },
    };
    await client.send(new PutItemCommand({ TableName: 'tasks', Item }));
    const reports = [of('old', aStep('received', 0)), of('old', anEndOf('succeeded'))];
    expect(await report('old', reports)).toEqual(['UpdateItem', 'UpdateItem']);
    expect(await stored('old')).toMatchObject({ state: 'succeeded', version: 3 });
  });
});

describe('the item of a task', () => {
  const attribute = async (id: string, name: string) =>
    Number((await getItem({ client, name: 'tasks' }, `task#${id}`))?.[name]?.N);

  it.each([
    ['without a deadline, a month after its last report', {}, NOW / 1000 + 1 + MONTH_SECONDS],
    ['a month after its deadline', { deadlineMs: NOW + 86_400_000 }, NOW / 1000 + 86_400 + MONTH_SECONDS],
  ])('expires, while it is open, %s', async (_what, changes, expected) => {
    const id = `open-${expected}`;
    await store.create(aTask({ id, ...changes }));
    await report(id, [of(id, aStep('processing', 0))]);
    expect(await attribute(id, 'expires_at')).toBe(expected);
    await report(id, [of(id, anEndOf())]);
    expect(await attribute(id, 'expires_at')).toBe(NOW / 1000 + 1 + MONTH_SECONDS);
  });

  it('of a usual flow is smaller than the unit in which writes are billed', async () => {
    const id = crypto.randomUUID();
    const prev = ['download-image', 'enhance-image', 'upload-image'];
    const route = { prev: [], curr: 'download-image', next: prev.slice(1) };
    await store.create(
      aTask({ id, owner: 'key:production', flow: 'image-enhance', deadlineMs: NOW + 360_000 }),
    );
    const archive_key = `succeeded/2026-01-01/upload-image/${id}.json`;
    await report(id, [
      of(id, aStep('processing', 1, { route, arrived_at: at(0), left_at: at(0) })),
      of(
        id,
        anEndOf('succeeded', { actor: 'upload-image', route: { prev, curr: '', next: [] }, archive_key }),
      ),
    ]);
    const item = (await getItem({ client, name: 'tasks' }, `task#${id}`)) ?? {};
    const bytes = Object.entries(item).reduce((sum, [name, value]) => sum + name.length + sizeOf(value), 0);
    expect(bytes).toBeLessThan(1_024);
  });
});

type Value = NonNullable<PutItemCommand['input']['Item']>[string];

function sizeOf({ S, N, B, L }: Value): number {
  return (S ?? N ?? '').length + (B?.length ?? 0) + (L ?? []).reduce((sum, one) => sum + 1 + sizeOf(one), 0);
}

describe('overdue tasks', () => {
  it('are the open ones of the owner, created in the period, whose deadline has passed', async () => {
    const owner = 'busy';
    const make = (id: string, changes: Partial<Task> = {}) =>
      store.create(aTask({ id, owner, createdMs: NOW + 10, deadlineMs: NOW + 100, ...changes }));
    await Promise.all(Array.from({ length: 40 }, (_, nth) => make(`due-${nth}`)));
    await make('later', { deadlineMs: NOW + 101 });
    await make('endless', { deadlineMs: undefined as never });
    await make('before', { createdMs: NOW + 9 });
    await make('after', { createdMs: NOW + 21 });
    await make('other', { owner: 'other' });
    await make('ended');
    await store.report('ended', [of('ended', anEndOf())], NOW);
    const period = { fromMs: NOW + 10, toMs: NOW + 20 };
    const found = await store.overdue(owner, period, NOW + 100, 1_000);
    expect(found).toMatchObject({ ok: true });
    expect('taskIds' in found && [...found.taskIds].sort()).toEqual(
      Array.from({ length: 40 }, (_, nth) => `due-${nth}`).sort(),
    );
    const some = await store.overdue(owner, period, NOW + 100, 7);
    expect('taskIds' in some && some.taskIds.length).toBe(7);
  });
});
