import { type AttributeValue, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { coalesce } from '../../async/coalesce.ts';
import { IDEMPOTENCY_PREFIX, TASK_PREFIX } from '../../config/plan/failure-table.ts';
import { isFinal, type Task } from '../../core/task/task.ts';
import { defined } from '../../core/text/defined.ts';
import type { Clock, Random } from '../../ports/clock.ts';
import { ACCEPTED, type Refusal } from '../../ports/reply.ts';
import type { KeyClaim, TaskStore } from '../../ports/task-store.ts';
import { listPartitions } from './list-partitions.ts';
import { partitionsOf, SHARD_MARK, shardName, shardOf } from './shards.ts';
import {
  getItem,
  isConditionFailed,
  number,
  numberOf,
  refusalOf,
  type Table,
  text,
  textOf,
} from './table.ts';
import { bytesFromTask, taskFromBytes } from './task-bytes.ts';

/** Counted from the last change, or from the deadline of an open task. */
const TASK_RETENTION_SECONDS = 30 * 86_400;
const KEY_RETENTION_SECONDS = 86_400;
const TASKS_PER_PAGE = 50;
/**
 * Children of one fan-out report at the same time. Within this process their changes are written together. Between
 * instances, each round of tries lets at least one write succeed, and growing random pauses spread the others.
 */
const MAX_TRIES = 12;
const MAX_PAUSE_MS = 1_000;

type Change = (task: Task) => Task;

export function dynamoDbTaskStore(table: Table, clock: Clock, random: Random): TaskStore {
  const { client, name: TableName } = table;

  async function read(id: string): Promise<Task | undefined> {
    return taskFromBytes((await getItem(table, taskKey(id)))?.['task']?.B);
  }

  /** False if the task was changed since it was read. */
  async function write(task: Task, readVersion: number): Promise<boolean> {
    try {
      await client.send(
        new PutItemCommand({
          TableName,
          Item: itemOf(task),
          ConditionExpression: '#version = :read',
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: { ':read': number(readVersion) },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  }

  async function update(id: string, changes: readonly Change[]): ReturnType<TaskStore['update']> {
    try {
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const task = await read(id);
        if (task === undefined) return { ok: true, task };
        const changed = changes.reduce((one, change) => change(one), task);
        if (changed === task || (await write(changed, task.version))) return { ok: true, task: changed };
        await clock.sleep(random() * Math.min(MAX_PAUSE_MS, 5 * 2 ** tries));
      }
      return contention(table);
    } catch (error) {
      return refusalOf(error, table);
    }
  }

  async function readKey(key: string, nowSeconds: number): Promise<KeyClaim | undefined> {
    const item = await getItem(table, idempotencyKey(key));
    if (item === undefined || numberOf(item, 'expires_at') < nowSeconds) return undefined;
    return {
      taskId: textOf(item, 'task_id'),
      digest: textOf(item, 'digest'),
      atMs: numberOf(item, 'at_ms'),
      ...(item['is_sent']?.BOOL === true ? { isSent: true } : {}),
    };
  }

  async function changeKey(
    key: string,
    taskId: string,
    UpdateExpression: string,
    values: Readonly<Record<string, AttributeValue>>,
  ): Promise<void> {
    await client.send(
      new UpdateItemCommand({
        TableName,
        Key: { pk: text(idempotencyKey(key)) },
        UpdateExpression,
        ConditionExpression: 'task_id = :mine',
        ExpressionAttributeValues: { ...values, ':mine': text(taskId) },
      }),
    );
  }

  return {
    create: async (task) => {
      // If an answer is lost, the SDK writes again and finds its own item.
      const writer = String(random());
      try {
        await client.send(
          new PutItemCommand({
            TableName,
            Item: { ...itemOf(task), writer: text(writer) },
            ConditionExpression: 'attribute_not_exists(pk) OR writer = :writer',
            ExpressionAttributeValues: { ':writer': text(writer) },
          }),
        );
        return ACCEPTED;
      } catch (error) {
        if (isConditionFailed(error)) return { ok: false, problem: 'a task with this id already exists' };
        return refusalOf(error, table);
      }
    },
    get: async (id) => {
      try {
        return { ok: true, task: await read(id) };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    update: coalesce(update),
    list: async (owner, cursor) => {
      const query = {
        index: 'by-owner',
        hashName: 'owner',
        partitions: partitionsOf(owner),
        keyPrefix: TASK_PREFIX,
      } as const;
      try {
        const page = await listPartitions(table, query, { limit: TASKS_PER_PAGE, ...defined({ cursor }) });
        if (page === undefined) return undefined;
        // A very long name is cut in the index, so two of them may share its partitions.
        const tasks = page.items
          .flatMap((item) => taskFromBytes(item['task']?.B) ?? [])
          .filter((task) => task.owner === owner);
        return { ok: true, tasks, ...defined({ next: page.next }) };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    claimKey: async (key, claim) => {
      const { taskId, digest, atMs } = claim;
      const nowSeconds = Math.floor(atMs / 1000);
      try {
        await client.send(
          new PutItemCommand({
            TableName,
            Item: {
              pk: text(idempotencyKey(key)),
              task_id: text(taskId),
              digest: text(digest),
              at_ms: number(atMs),
              expires_at: number(nowSeconds + KEY_RETENTION_SECONDS),
            },
            // DynamoDB may delete an expired item days later: an expired claim counts as deleted.
            ConditionExpression: 'attribute_not_exists(pk) OR expires_at < :now',
            ExpressionAttributeValues: { ':now': number(nowSeconds) },
          }),
        );
        return { ok: true, isFirst: true, claim };
      } catch (error) {
        if (!isConditionFailed(error)) return refusalOf(error, table);
      }
      try {
        const first = await readKey(key, nowSeconds);
        if (first !== undefined) return { ok: true, isFirst: false, claim: first };
        return { ok: false, problem: 'the key was released just now' };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    confirmKey: async (key, taskId) => {
      try {
        await changeKey(key, taskId, 'SET is_sent = :yes', { ':yes': { BOOL: true } });
        return ACCEPTED;
      } catch (error) {
        return isConditionFailed(error) ? ACCEPTED : refusalOf(error, table);
      }
    },
    releaseKey: async (key, taskId) => {
      try {
        // Expires the claim instead of deleting it: with permission to delete, the gateway could delete failures too.
        await changeKey(key, taskId, 'SET expires_at = expires_at - :over', {
          ':over': number(KEY_RETENTION_SECONDS + 1),
        });
        return ACCEPTED;
      } catch (error) {
        return isConditionFailed(error) ? ACCEPTED : refusalOf(error, table);
      }
    },
  };
}

function contention({ name }: Table): Refusal {
  return {
    ok: false,
    problem: `the task was changed by other writers during ${MAX_TRIES} tries (table "${name}")`,
  };
}

function taskKey(id: string): string {
  return `${TASK_PREFIX}${id}`;
}

function idempotencyKey(key: string): string {
  return `${IDEMPOTENCY_PREFIX}${key}`;
}

/** The attributes by which the tasks of an owner are listed. */
function ownerAttributes({ id, owner }: Task) {
  const shard = shardOf(id);
  return { owner: text(shardName(owner, shard)), [SHARD_MARK]: number(shard) };
}

/** The index sorts by creation time, so that pages do not shift while tasks run. */
function itemOf(task: Task): Record<string, AttributeValue> {
  const { id, flow, state, createdMs, updatedMs, deadlineMs, version } = task;
  // An open task does not expire before its deadline.
  const lastMs = isFinal(state) ? updatedMs : Math.max(updatedMs, deadlineMs ?? 0);
  return {
    pk: text(taskKey(id)),
    ...ownerAttributes(task),
    seen_ms: number(createdMs),
    flow: text(flow),
    state: text(state),
    version: number(version),
    task: { B: bytesFromTask(task) },
    expires_at: number(Math.ceil(lastMs / 1000) + TASK_RETENTION_SECONDS),
  };
}
