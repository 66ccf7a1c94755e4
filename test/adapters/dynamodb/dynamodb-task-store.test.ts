import { CreateTableCommand, type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { dynamoDbClient } from '../../../lib/adapters/dynamodb/dynamodb-client.ts';
import { dynamoDbTaskStore } from '../../../lib/adapters/dynamodb/dynamodb-task-store.ts';
import { ensureTable } from '../../../lib/adapters/dynamodb/table.ts';
import { bytesFromTask, taskFromBytes } from '../../../lib/adapters/dynamodb/task-bytes.ts';
import { systemClock, systemRandom } from '../../../lib/adapters/system/system.ts';
import { FAILURE_TABLE } from '../../../lib/config/plan/failure-table.ts';
import type { Task } from '../../../lib/core/task/task.ts';
import { cancelTask, expireTask } from '../../../lib/core/task/task-end.ts';
import { applyReport } from '../../../lib/core/task/task-report.ts';
import type { TaskStore } from '../../../lib/ports/task-store.ts';
import { NOW } from '../../core/a-delivery.ts';
import { anEndOf, aStep, aTask } from '../../core/a-task.ts';
import { startClientOfDynamoDb } from '../../support/embedded-dynamodb.ts';

let endpoint: string;
let client: DynamoDBClient;
let store: TaskStore;
beforeAll(async () => {
  const dynamoDb = await startClientOfDynamoDb();
  client = dynamoDb.client;
  endpoint = dynamoDb.endpoint;
  await ensureTable({ client, name: 'tasks' });
  store = dynamoDbTaskStore({ client, name: 'tasks' }, systemClock, systemRandom);
  return dynamoDb.close;
});

const CLAIM = { taskId: 't-1', digest: 'd', atMs: NOW };

async function stored(id: string): Promise<Task | undefined> {
  const got = await store.get(id);
  return got.ok ? got.task : undefined;
}

describe('a task', () => {
  it('is returned unchanged, and created once', async () => {
    const task = applyReport(aTask({ id: 'once' }), aStep('received', 0), NOW);
    expect(await store.create(task)).toEqual({ ok: true });
    expect(await stored('once')).toEqual(task);
    expect(await store.create(aTask({ id: 'once' }))).toMatchObject({ ok: false });
    expect(await stored('once')).toEqual(task);
  });

  it('is created once if the first answer was lost', async () => {
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
    const other = dynamoDbTaskStore({ client: lossy, name: 'tasks' }, systemClock, systemRandom);
    expect(await other.create(aTask({ id: 'answer-lost' }))).toEqual({ ok: true });
    expect(answers).toBe(2);
    expect(await other.create(aTask({ id: 'answer-lost' }))).toMatchObject({ ok: false });
    lossy.destroy();
  });

  it('is undefined if it does not exist', async () => {
    expect(await store.get('missing')).toEqual({ ok: true, task: undefined });
    expect(await store.update('missing', (task) => task)).toEqual({ ok: true, task: undefined });
  });

  it('keeps every change of concurrent writers', async () => {
    await store.create(aTask({ id: 'busy' }));
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, nth) =>
        store.update('busy', (task) =>
          applyReport(task, aStep('received', 1, { envelope_id: `c-${nth}` }), NOW),
        ),
      ),
    );
    expect(replies.filter(({ ok }) => !ok)).toEqual([]);
    const task = await stored('busy');
    expect(Object.keys(task?.children ?? {})).toHaveLength(8);
    expect(task?.version).toBe(9);
  });

  it('keeps every concurrent report of a large fan-out', async () => {
    await store.create(aTask({ id: 'crowded' }));
    const ids = Array.from({ length: 1_000 }, (_, nth) => `c-${nth}`);
    const replies = await Promise.all(
      ids.map((envelope_id) =>
        store.update('crowded', (task) => applyReport(task, anEndOf('succeeded', { envelope_id }), NOW)),
      ),
    );
    expect(replies.filter(({ ok }) => !ok)).toHaveLength(0);
    const { children = {}, unlisted = 0 } = (await stored('crowded')) ?? {};
    expect(Object.keys(children).length + unlisted).toBe(1_000);
  });

  it('ends once with concurrent ends', async () => {
    await store.create(aTask({ id: 'ends' }));
    await Promise.all([
      store.update('ends', (task) => cancelTask(task, NOW)),
      store.update('ends', (task) => expireTask(task, NOW)),
    ]);
    const task = await stored('ends');
    expect(task?.events.filter(({ type }) => type === 'ended')).toHaveLength(1);
  });

  it('is not written if the change returns it unchanged', async () => {
    await store.create(aTask({ id: 'same' }));
    await store.update('same', (task) => task);
    expect((await stored('same'))?.version).toBe(1);
  });
});

describe('a list of tasks', () => {
  it('is newest first, of one owner only, in pages', async () => {
    for (let nth = 0; nth < 60; nth++)
      await store.create(aTask({ id: `l-${nth}`, owner: 'lister', createdMs: NOW + nth }));
    const first = await store.list('lister');
    if (!first?.ok || first.next === undefined) throw new Error('expected a second page');
    expect(first.tasks.map(({ id }) => id).slice(0, 2)).toEqual(['l-59', 'l-58']);
    const second = await store.list('lister', first.next);
    if (!second?.ok) throw new Error('expected to read the second page');
    expect([first.tasks.length + second.tasks.length, second.tasks.at(-1)?.id]).toEqual([60, 'l-0']);
    expect(await store.list('somebody else')).toEqual({ ok: true, tasks: [] });
  });

  it.each(['', 'not a cursor', Buffer.from('["failure#1",1]').toString('base64url')])(
    'is undefined for an invalid cursor: "%s"',
    async (cursor) => {
      expect(await store.list('lister', cursor)).toBeUndefined();
    },
  );

  it("never contains another owner's tasks, with any cursor", async () => {
    const first = await store.list('lister');
    const next = first?.ok ? first.next : undefined;
    expect(await store.list('somebody else', next)).toMatchObject({ tasks: [] });
  });
});

describe('tasks of an earlier version, in one partition per owner,', () => {
  it('are listed among the others, and only for their owner', async () => {
    const put = (task: Task) =>
      client.send(
        new PutItemCommand({
          TableName: 'tasks',
          Item: {
            pk: { S: `task#${task.id}` },
            owner: { S: task.owner },
            seen_ms: { N: String(task.createdMs) },
            version: { N: '1' },
            task: { B: bytesFromTask(task) },
          },
        }),
      );
    for (let nth = 0; nth < 40; nth++) {
      const task = aTask({ id: `both-${nth}`, owner: 'both', createdMs: NOW + nth });
      if (nth % 2 === 0) await put(task);
      else await store.create(task);
      // A caller whose name looks like a partition of another one.
      await put(aTask({ id: `posing-${nth}`, owner: `${nth % 16}~both`, createdMs: NOW + nth }));
    }
    const page = await store.list('both');
    const ids = Array.from({ length: 40 }, (_, nth) => `both-${39 - nth}`);
    expect(page?.ok && page.tasks.map(({ id }) => id)).toEqual(ids);
    const posing = await store.list('3~both');
    expect(posing?.ok && posing.tasks.map(({ owner }) => owner)).toEqual(['3~both', '3~both', '3~both']);
    await store.update('both-0', (task) => applyReport(task, aStep('received', 0), NOW));
    const after = await store.list('both');
    expect(after?.ok && after.tasks.map(({ id }) => id)).toEqual(ids);
  });
});

describe('an idempotency key', () => {
  it('belongs to the first claim', async () => {
    expect(await store.claimKey('k', CLAIM)).toEqual({ ok: true, isFirst: true, claim: CLAIM });
    const second = await store.claimKey('k', { ...CLAIM, taskId: 't-2' });
    expect(second).toEqual({ ok: true, isFirst: false, claim: CLAIM });
  });

  it('can be claimed again after its release, or after a day', async () => {
    await store.claimKey('r', CLAIM);
    await store.releaseKey('r', CLAIM.taskId);
    expect(await store.claimKey('r', CLAIM)).toMatchObject({ isFirst: true });
    const later = { ...CLAIM, atMs: NOW + 86_402_000 };
    expect(await store.claimKey('r', later)).toMatchObject({ isFirst: true, claim: later });
  });

  it('is released by its own task only', async () => {
    await store.claimKey('mine', CLAIM);
    expect(await store.releaseKey('mine', 'another')).toEqual({ ok: true });
    expect(await store.claimKey('mine', { ...CLAIM, taskId: 't-2' })).toMatchObject({ isFirst: false });
  });

  it('records whether its envelope was sent', async () => {
    await store.claimKey('sent', CLAIM);
    await store.confirmKey('sent', 'another');
    expect(await store.claimKey('sent', CLAIM)).toEqual({ ok: true, isFirst: false, claim: CLAIM });
    await store.confirmKey('sent', CLAIM.taskId);
    expect(await store.claimKey('sent', CLAIM)).toMatchObject({ isFirst: false, claim: { isSent: true } });
  });
});

describe('a table that cannot be used', () => {
  it('returns a problem', async () => {
    const unreachable = dynamoDbClient({ region: 'us-east-1', endpoint: 'http://127.0.0.1:1' }, {});
    const down = dynamoDbTaskStore({ client: unreachable, name: 'tasks' }, systemClock, systemRandom);
    for (const reply of await Promise.all([
      down.create(aTask()),
      down.get('t'),
      down.update('t', (task) => task),
      down.report('t', [anEndOf()], NOW),
      down.overdue('me', { fromMs: 0, toMs: 1 }, 1, 1),
      down.list('me'),
      down.claimKey('k', CLAIM),
      down.releaseKey('k', 't'),
      down.confirmKey('k', 't'),
    ]))
      expect(reply).toMatchObject({ ok: false, problem: expect.stringContaining('DynamoDB request failed') });
    unreachable.destroy();
  });

  it('is rejected with a hint if an earlier version created it', async () => {
    const [{ hash, range }] = FAILURE_TABLE.indexes;
    await client.send(
      new CreateTableCommand({
        TableName: 'older',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [FAILURE_TABLE.key, hash, range].map((one) => ({
          AttributeName: one.name,
          AttributeType: one.type,
        })),
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        GlobalSecondaryIndexes: [
          {
            IndexName: 'by-time',
            KeySchema: [
              { AttributeName: hash.name, KeyType: 'HASH' },
              { AttributeName: range.name, KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
      }),
    );
    await expect(ensureTable({ client, name: 'older' })).rejects.toThrow(
      /lacks the index .*"by-owner".*--fresh/,
    );
  });
});

describe('a stored task', () => {
  it('fits into an item with any route', () => {
    const names = Array.from({ length: 100 }, (_, nth) => `${nth}`.padEnd(63, 'x'));
    let task = aTask();
    for (let hop = 0; hop < 600; hop++) {
      const route = { prev: names, curr: 'x', next: names.map((name) => `${name.slice(0, 50)}${hop}`) };
      task = applyReport(task, aStep('received', hop, { route }), NOW);
    }
    const bytes = bytesFromTask(task);
    expect(bytes.length).toBeLessThan(380_000);
    expect(taskFromBytes(bytes)?.events.at(-1)).toEqual(task.events.at(-1));
  });
});
