import type { EndRecord } from '../../lib/core/failure/record.ts';
import { isFinal, type Task } from '../../lib/core/task/task.ts';
import { applyReports } from '../../lib/core/task/task-report.ts';
import type { Archive } from '../../lib/ports/archive.ts';
import type { Cancellations } from '../../lib/ports/cancellations.ts';
import type { EndRecords } from '../../lib/ports/end-records.ts';
import { ACCEPTED, type Refusal } from '../../lib/ports/reply.ts';
import type { KeyClaim, TaskStore } from '../../lib/ports/task-store.ts';

/** In-memory stores, for tests in virtual time and for tests that control the order of steps. */
export interface MemoryTasks extends TaskStore {
  readonly all: Map<string, Task>;
  /** If set, the store refuses every request with this problem. */
  problem?: string;
}

/** Awaited before each read and each write. Default: no delay. */
export type Step = (what: 'read' | 'write', id: string) => Promise<void>;

export function memoryTasks(step: Step = async () => {}): MemoryTasks {
  const all = new Map<string, Task>();
  const keys = new Map<string, KeyClaim>();
  const down = (): Refusal | undefined =>
    store.problem === undefined ? undefined : { ok: false, problem: store.problem };
  const store: MemoryTasks = {
    all,
    create: async (task) => {
      await step('write', task.id);
      if (all.has(task.id))
        return { ok: false, problem: 'a task with this id already exists', isTaken: true };
      const refusal = down();
      if (refusal === undefined) all.set(task.id, task);
      return refusal ?? ACCEPTED;
    },
    get: async (id) => {
      await step('read', id);
      return down() ?? { ok: true, task: all.get(id) };
    },
    update: async (id, change) => {
      for (;;) {
        await step('read', id);
        const refusal = down();
        if (refusal !== undefined) return refusal;
        const read = all.get(id);
        if (read === undefined) return { ok: true, task: undefined };
        const changed = change(read);
        if (changed === read) return { ok: true, task: read };
        await step('write', id);
        if (all.get(id)?.version !== read.version) continue;
        all.set(id, changed);
        return { ok: true, task: changed };
      }
    },
    report: (id, reports, atMs) => store.update(id, (task) => applyReports(task, reports, atMs)),
    list: async (owner) => {
      const tasks = [...all.values()].filter((task) => task.owner === owner).reverse();
      return down() ?? { ok: true, tasks };
    },
    overdue: async (owner, { fromMs, toMs }, nowMs, limit) => {
      const isOverdue = (task: Task) =>
        !isFinal(task.state) && task.deadlineMs !== undefined && task.deadlineMs <= nowMs;
      const found = [...all.values()].filter(
        (task) =>
          task.owner === owner && task.createdMs >= fromMs && task.createdMs <= toMs && isOverdue(task),
      );
      return down() ?? { ok: true, taskIds: found.slice(0, limit).map(({ id }) => id) };
    },
    claimKey: async (key, claim) => {
      const first = keys.get(key);
      const refusal = down();
      if (refusal !== undefined) return refusal;
      keys.set(key, first ?? claim);
      return { ok: true, isFirst: first === undefined, claim: first ?? claim };
    },
    confirmKey: async (key, taskId) => {
      const claim = keys.get(key);
      if (claim?.taskId === taskId) keys.set(key, { ...claim, isSent: true });
      return ACCEPTED;
    },
    releaseKey: async (key, taskId) => {
      if (keys.get(key)?.taskId === taskId) keys.delete(key);
      return ACCEPTED;
    },
  };
  return store;
}

export interface MemoryCancellations extends Cancellations {
  readonly all: Set<string>;
  problem?: string;
}

export function memoryCancellations(): MemoryCancellations {
  const all = new Set<string>();
  const cancellations: MemoryCancellations = {
    all,
    add: async (taskId) => {
      if (cancellations.problem !== undefined) return { ok: false, problem: cancellations.problem };
      all.add(taskId);
      return ACCEPTED;
    },
    recent: async () => [...all],
  };
  return cancellations;
}

export interface MemoryArchive extends Pick<Archive, 'get'>, Pick<EndRecords, 'ofEnvelope'> {
  keep(record: EndRecord, text: string): void;
  problem?: string;
}

export function memoryArchive(): MemoryArchive {
  const texts = new Map<string, string>();
  const records: EndRecord[] = [];
  const archive: MemoryArchive = {
    keep: (record, text) => {
      records.push(record);
      texts.set(record.archiveKey ?? '', text);
    },
    get: async (key) =>
      archive.problem === undefined
        ? { ok: true, text: texts.get(key) }
        : { ok: false, problem: archive.problem },
    ofEnvelope: async (id) =>
      archive.problem === undefined
        ? { ok: true, records: records.filter(({ envelopeId }) => envelopeId === id) }
        : { ok: false, problem: archive.problem },
  };
  return archive;
}
