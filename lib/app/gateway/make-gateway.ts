import type { Flow } from '../../core/task/flow.ts';
import { isFinal, type Task } from '../../core/task/task.ts';
import { cancelTask, expireTask } from '../../core/task/task-end.ts';
import { defined } from '../../core/text/defined.ts';
import { backstops } from './backstops.ts';
import { createTaskFor, unavailable } from './create-task.ts';
import type { Caller, Gateway, GatewayRefusal } from './gateway.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import {
  hasSilentChildren,
  isOverdue,
  readArchived,
  reconcileChildren,
  reconcileTask,
} from './reconcile-task.ts';
import { sweepTasks } from './sweep-tasks.ts';
import { eventsFrom, type ReadTask, watchTask } from './watch-task.ts';

type Found = { readonly ok: true; readonly task: Task } | GatewayRefusal;

/** The same answer for a missing task and for another caller's task, so that ids cannot be probed. */
const NO_TASK: GatewayRefusal = { ok: false, kind: 'not-found', detail: 'task not found' };
const NO_FLOW: GatewayRefusal = { ok: false, kind: 'not-found', detail: 'flow not found' };
const INVALID_CURSOR: GatewayRefusal = {
  ok: false,
  kind: 'invalid',
  detail: 'invalid cursor; use links.next of the previous page',
};

/** Implements the use cases on top of a task store, an archive and a transport. See {@link Gateway} for each method. */
export function makeGateway(deps: GatewayDeps): Gateway {
  const { tasks, clock } = deps;
  const armBackstop = backstops(deps);

  const flowsOf = (caller: Caller): readonly Flow[] =>
    deps.flows().filter(({ name }) => caller.flows === undefined || caller.flows.includes(name));

  async function ownTask(caller: Caller, id: string): Promise<Found> {
    const got = await tasks.get(id);
    if (!got.ok) return unavailable('the task could not be read', got.problem, deps);
    return visibleTo(caller, got.task);
  }

  /** The task, reconciled first if it or its children have been silent for too long or it is overdue. */
  async function currentTask(caller: Caller, id: string): Promise<Found> {
    const found = await ownTask(caller, id);
    if (!found.ok) return found;
    const { task } = found;
    const isSilent = needsReconciling(task, clock.now(), deps.silentMs);
    if (!isSilent && !hasSilentChildren(task, clock.now(), deps.silentMs)) return found;
    const reconciled = await (isSilent ? reconcileTask : reconcileChildren)(task, deps);
    if (reconciled.ok) return visibleTo(caller, reconciled.task);
    deps.telemetry.warn('a task could not be reconciled with the archive', { problem: reconciled.problem });
    return found;
  }

  /** The task is canceled in any case: a sidecar that does not learn of it only does more work. */
  async function announceCancellation(id: string): Promise<void> {
    const reply = await deps.cancellations.add(id);
    if (!reply.ok) deps.telemetry.warn('a cancellation could not be announced', { problem: reply.problem });
  }

  function watched(caller: Caller, id: string, signal: AbortSignal): AsyncGenerator<Task> {
    let reconciledAt = clock.now();
    const readTask: ReadTask = async () => {
      const got = await tasks.get(id);
      const { task } = got.ok ? got : { task: undefined };
      if (task === undefined || task.owner !== caller.id) return got.ok ? { ok: true, task: undefined } : got;
      if (clock.now() - reconciledAt < deps.silentMs && !isOverdue(task, clock.now())) return got;
      if (!needsReconciling(task, clock.now(), deps.silentMs)) return got;
      reconciledAt = clock.now();
      return reconcileTask(task, deps);
    };
    return watchTask(readTask, deps, signal);
  }

  async function expire(id: string): Promise<void> {
    const got = await tasks.get(id);
    if (!got.ok) throw new Error(got.problem);
    if (got.task === undefined || isFinal(got.task.state)) return;
    // Prefer an end whose report was lost. If the archive cannot be read, only the deadline counts.
    const reconciled = await reconcileTask(got.task, deps);
    if (reconciled.ok && reconciled.task !== undefined && isFinal(reconciled.task.state)) return;
    const expired = await tasks.update(id, (task) => expireTask(task, clock.now()));
    if (!expired.ok) throw new Error(expired.problem);
  }

  return {
    flows: flowsOf,
    create: async (caller, name, payload, options = {}) => {
      const flow = flowsOf(caller).find((one) => one.name === name);
      return flow === undefined
        ? NO_FLOW
        : createTaskFor(caller, flow, payload, options, { ...deps, armBackstop });
    },
    task: currentTask,
    tasks: async (caller, cursor) => {
      const page = await tasks.list(caller.id, cursor);
      if (page === undefined) return INVALID_CURSOR;
      return page.ok ? page : unavailable('the tasks could not be read', page.problem, deps);
    },
    cancel: async (caller, id) => {
      const found = await currentTask(caller, id);
      if (!found.ok) return found;
      if (isFinal(found.task.state) && found.task.state !== 'canceled') return alreadyEnded(found.task);
      const canceled = await tasks.update(id, (task) => cancelTask(task, clock.now()));
      if (!canceled.ok) return unavailable('the task could not be canceled', canceled.problem, deps);
      const { task } = canceled;
      if (task === undefined) return NO_TASK;
      if (task.state === 'canceled') await announceCancellation(id);
      return task.state === 'canceled' ? { ok: true, task } : alreadyEnded(task);
    },
    result: async (caller, id) => {
      const found = await currentTask(caller, id);
      if (!found.ok) return found;
      const { task } = found;
      if (!isFinal(task.state) || task.archiveKey === undefined) return { ok: true, result: { task } };
      const archived = await readArchived(task.archiveKey, deps);
      if (!archived.ok) return unavailable('the result could not be read', archived.problem, deps);
      const payload = archived.envelope?.payload;
      return { ok: true, result: { task, ...defined({ payload }) } };
    },
    waitUntilEnded: async (caller, id, withinMs, signal) => {
      const found = await currentTask(caller, id);
      if (!found.ok || isFinal(found.task.state)) return found;
      const over = new AbortController();
      const either = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
      void clock.sleep(withinMs, either).then(() => over.abort());
      let { task } = found;
      for await (const seen of watched(caller, id, either)) task = seen;
      over.abort();
      return { ok: true, task };
    },
    events: async (caller, id, afterSeq, signal) => {
      const found = await ownTask(caller, id);
      return found.ok ? eventsFrom(watched(caller, id, signal), afterSeq) : undefined;
    },
    report: async (reports) => {
      // The crew reports ends, for which a cancellation comes too late.
      const isOfSidecar = reports.length === 0 || reports.some(({ event }) => event !== 'final');
      const recent = isOfSidecar ? deps.cancellations.recent() : [];
      const byTask = Map.groupBy(reports, ({ task }) => task);
      const replies = await Promise.all(
        [...byTask].map(([id, ofTask]) => tasks.report(id, ofTask, clock.now())),
      );
      const refusal = replies.find((reply) => !reply.ok);
      const reported = replies.flatMap((reply) =>
        reply.ok && reply.task?.state === 'canceled' ? [reply.task.id] : [],
      );
      const canceled = [...new Set([...reported, ...(await recent)])];
      return { canceled, ...(refusal === undefined || refusal.ok ? {} : { problem: refusal.problem }) };
    },
    expire,
    sweep: (timer) => sweepTasks(timer, deps, expire),
  };
}

function visibleTo(caller: Caller, task: Task | undefined): Found {
  return task === undefined || task.owner !== caller.id ? NO_TASK : { ok: true, task };
}

function needsReconciling(task: Task, now: number, silentMs: number): boolean {
  return !isFinal(task.state) && (now - task.updatedMs >= silentMs || isOverdue(task, now));
}

function alreadyEnded({ state }: Task): GatewayRefusal {
  return { ok: false, kind: 'conflict', detail: `the task has already ended: ${state}` };
}
