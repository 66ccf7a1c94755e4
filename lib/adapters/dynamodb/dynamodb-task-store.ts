import { type AttributeValue, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { coalesce } from '../../async/coalesce.ts';
import { TASK_PREFIX } from '../../config/plan/failure-table.ts';
import { isFinal, type Task } from '../../core/task/task.ts';
import { applyReports } from '../../core/task/task-report.ts';
import { defined } from '../../core/text/defined.ts';
import type { Clock, Random } from '../../ports/clock.ts';
import { ACCEPTED, type Refusal } from '../../ports/reply.ts';
import type { TaskStore } from '../../ports/task-store.ts';
import { idempotencyKeys } from './idempotency-keys.ts';
import { listPartitions, PAGE_BYTES } from './list-partitions.ts';
import { overdueTasks } from './overdue-tasks.ts';
import { partitionsOf, SHARD_MARK, shardName, shardOf } from './shards.ts';
import {
  getItem,
  type Item,
  isConditionFailed,
  number,
  numberOf,
  refusalOf,
  type Table,
  text,
} from './table.ts';
import { bytesFromTask, taskFromBytes } from './task-bytes.ts';
import { canAppend, logEntry, type Reported, stateAfter, taskWithLog } from './task-log.ts';

/** Counted from the last change, or from the deadline of an open task. */
const TASK_RETENTION_SECONDS = 30 * 86_400;
const TASKS_PER_PAGE = 50;
/**
 * Children of one fan-out report at the same time. Within this process their changes are written together. Between
 * instances, each round of tries lets at least one write succeed, and growing random pauses spread the others.
 */
const MAX_TRIES = 12;
const MAX_PAUSE_MS = 1_000;

/** With more entries, the next reports are applied to the task itself, and the log is empty again. */
const MAX_LOG_ENTRIES = 8;

type Change = (task: Task) => Task;
/** What one caller wants to do with a task. */
type Step = { readonly change: Change } | { readonly reported: Reported };

export function dynamoDbTaskStore(table: Table, clock: Clock, random: Random): TaskStore {
  const { client, name: TableName } = table;

  async function read(id: string): Promise<Read | undefined> {
    const item = await getItem(table, taskKey(id));
    const task = taskFromItem(item);
    return task === undefined ? undefined : { task, revision: numberOf(item ?? {}, 'version') };
  }

  /** False if the item was changed since it was read. */
  async function write(task: Task, { revision }: Read): Promise<boolean> {
    try {
      await client.send(
        new PutItemCommand({
          TableName,
          Item: itemOf(task, revision + 1),
          ConditionExpression: '#version = :read',
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: { ':read': number(revision) },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  }

  /** Appends the reports to the log of an open task, in one request. False if the task has to be read first. */
  async function append(id: string, all: readonly Reported[]): Promise<boolean> {
    const entries = all.map((one) => logEntry(id, one));
    if (!canAppend(all, entries)) return false;
    const state = stateAfter(id, all);
    const lastMs = Math.max(...all.map(({ atMs }) => atMs));
    // The expiry of an open task with a deadline is already later than that of its last report.
    const expiry = isFinal(state) ? ':expiry' : 'if_not_exists(open_until, :expiry)';
    try {
      await client.send(
        new UpdateItemCommand({
          TableName,
          Key: { pk: text(taskKey(id)) },
          UpdateExpression: `SET #log = list_append(if_not_exists(#log, :none), :entries), #state = :state, #version = #version + :one, expires_at = ${expiry}`,
          ConditionExpression:
            '#state IN (:pending, :running, :paused) AND (attribute_not_exists(#log) OR size(#log) < :most)',
          ExpressionAttributeNames: { '#log': 'log', '#state': 'state', '#version': 'version' },
          ExpressionAttributeValues: {
            ':none': { L: [] },
            ':entries': { L: entries.map((entry) => ({ B: entry })) },
            ':state': text(state),
            ':one': number(1),
            ':expiry': number(expiryOf(lastMs)),
            ':pending': text('pending'),
            ':running': text('running'),
            ':paused': text('paused'),
            ':most': number(MAX_LOG_ENTRIES),
          },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailed(error)) return false;
      throw error;
    }
  }

  /** Resolves without the task if it was not necessary to read it. */
  async function run(id: string, steps: readonly Step[]): ReturnType<TaskStore['update']> {
    try {
      const reported = steps.flatMap((step) => ('reported' in step ? [step.reported] : []));
      if (reported.length === steps.length && (await append(id, reported)))
        return { ok: true, task: undefined };
      const changes = steps.map(changeOf);
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const found = await read(id);
        if (found === undefined) return { ok: true, task: undefined };
        const changed = changes.reduce((one, change) => change(one), found.task);
        if (changed === found.task || (await write(changed, found))) return { ok: true, task: changed };
        await clock.sleep(random() * Math.min(MAX_PAUSE_MS, 5 * 2 ** tries));
      }
      return contention(table);
    } catch (error) {
      return refusalOf(error, table);
    }
  }

  const runTogether = coalesce(run);

  return {
    create: async (task) => {
      // If an answer is lost, the SDK writes again and finds its own item.
      const writer = String(random());
      try {
        await client.send(
          new PutItemCommand({
            TableName,
            Item: { ...itemOf(task, task.version), writer: text(writer) },
            ConditionExpression: 'attribute_not_exists(pk) OR writer = :writer',
            ExpressionAttributeValues: { ':writer': text(writer) },
          }),
        );
        return ACCEPTED;
      } catch (error) {
        return isConditionFailed(error)
          ? { ok: false, problem: 'a task with this id already exists', isTaken: true }
          : refusalOf(error, table);
      }
    },
    get: async (id) => {
      try {
        return { ok: true, task: (await read(id))?.task };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    update: (id, change) => runTogether(id, { change }),
    report: (id, reports, atMs) => runTogether(id, { reported: { reports, atMs } }),
    list: async (owner, cursor) => {
      const query = {
        index: 'by-owner',
        hashName: 'owner',
        partitions: partitionsOf(owner),
        keyPrefix: TASK_PREFIX,
      } as const;
      try {
        const size = { limit: TASKS_PER_PAGE, maxBytes: PAGE_BYTES };
        const page = await listPartitions(table, query, { ...size, ...defined({ cursor }) });
        if (page === undefined) return undefined;
        // A very long name is cut in the index, so two of them may share its partitions.
        const tasks = page.items
          .flatMap((item) => taskFromItem(item) ?? [])
          .filter((task) => task.owner === owner);
        return { ok: true, tasks, ...defined({ next: page.next }) };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    overdue: async (owner, created, nowMs, limit) => {
      try {
        const found = await overdueTasks(table, { owner, ...created, nowMs, limit, taskFrom: taskFromItem });
        return { ok: true, taskIds: found.map(({ id }) => id) };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    ...idempotencyKeys(table),
  };
}

interface Read {
  readonly task: Task;
  /** Changes with every write of the item. */
  readonly revision: number;
}

function changeOf(step: Step): Change {
  if ('change' in step) return step.change;
  const { reports, atMs } = step.reported;
  return (task) => applyReports(task, reports, atMs);
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

/** The attributes by which the tasks of an owner are listed. */
function ownerAttributes({ id, owner }: Task) {
  const shard = shardOf(id);
  return { owner: text(shardName(owner, shard)), [SHARD_MARK]: number(shard) };
}

/** The index sorts by creation time, so that pages do not shift while tasks run. */
function itemOf(task: Task, revision: number): Record<string, AttributeValue> {
  const { id, flow, state, createdMs, updatedMs, deadlineMs } = task;
  // An open task does not expire before its deadline.
  const openMs = isFinal(state) || deadlineMs === undefined ? undefined : Math.max(updatedMs, deadlineMs);
  const openUntil = openMs === undefined ? undefined : number(expiryOf(openMs));
  return {
    pk: text(taskKey(id)),
    ...ownerAttributes(task),
    seen_ms: number(createdMs),
    flow: text(flow),
    state: text(state),
    version: number(revision),
    task: { B: bytesFromTask(task) },
    expires_at: openUntil ?? number(expiryOf(updatedMs)),
    ...(openUntil !== undefined && { open_until: openUntil }),
  };
}

function taskFromItem(item: Item | undefined): Task | undefined {
  const task = taskFromBytes(item?.['task']?.B);
  return (
    task &&
    taskWithLog(
      task,
      (item?.['log']?.L ?? []).flatMap(({ B }) => B ?? []),
    )
  );
}

function expiryOf(lastMs: number): number {
  return Math.ceil(lastMs / 1000) + TASK_RETENTION_SECONDS;
}
