import type { Route } from '../envelope/envelope.ts';
import { defined } from '../text/defined.ts';
import { instantMs } from '../text/timestamp.ts';
import type { FinalReport, ProgressReport, Report, StepEvent, StepReport } from './report.ts';
import { isFinal, type Task, type TaskChild, type TaskEvent, type TaskMark } from './task.ts';
import { endTask } from './task-end.ts';
import { withEvent } from './task-event.ts';
import { furtherProgress, progressOf } from './task-progress.ts';

/** A fan-out may have thousands of children. At most this many are listed with their states. */
export const MAX_CHILDREN = 200;

const STAGES: Readonly<Record<StepEvent, number>> = { received: 0, processing: 1, completed: 2 };
const END: TaskMark = [Number.MAX_SAFE_INTEGER, 0, 0];

/**
 * The time between two progress updates of fan-out children that a task accepts, for all of them together: each update is
 * a write, and hundreds of children report at the same time. The root's sidecar limits the root's updates.
 */
const CHILD_UPDATE_INTERVAL_MS = 250;

/** The task after the reports of one request. See {@link applyReport}. */
export function applyReports(task: Task, reports: readonly Report[], now: number): Task {
  const latest = task.events.findLast(({ type, child }) => type === 'progress' && child !== undefined);
  const isTooSoon = latest !== undefined && now - latest.atMs < CHILD_UPDATE_INTERVAL_MS;
  const isDropped = ({ event, envelope_id }: Report) => event === 'progress' && envelope_id !== task.id;
  const accepted = isTooSoon ? reports.filter((report) => !isDropped(report)) : reports;
  return accepted.reduce((one, report) => applyReport(one, report, now), task);
}

/**
 * The task after a report. Reports may be duplicated or arrive out of order: a report that is not ahead of the known
 * position, or arrives after the end, changes nothing, and the same task is returned. An envelope whose id differs from
 * the task's id is a child. Its state is still updated after the root has ended, but the rest of the task is not.
 */
export function applyReport(task: Task, report: Report, now: number): Task {
  if (report.envelope_id !== task.id) return applyToChild(task, report, now);
  if (isFinal(task.state)) return task;
  return report.event === 'final' ? endByReport(task, report, now) : applyStep(task, report, now);
}

function endByReport(task: Task, report: FinalReport, now: number): Task {
  const { phase, reason, error, actor, archive_key, route } = report;
  const why = defined({ reason, error });
  const passed =
    route === undefined ? task : withPassedActors(task, routeAtEnd(route, phase), report.at, now);
  return endTask(passed, { state: phase, actor, ...defined({ archiveKey: archive_key }), ...why }, now);
}

/** A handler that returns nothing ends the route where it is: then the current actor completed the envelope, too. */
function routeAtEnd(route: Route, phase: FinalReport['phase']): Route {
  const isDone = phase === 'succeeded' && route.curr !== '';
  return isDone ? { prev: [...route.prev, route.curr], curr: '', next: route.next } : route;
}

function applyStep(task: Task, report: StepReport | ProgressReport, now: number): Task {
  const mark = markOf(report);
  if (!isAhead(mark, task.mark)) return task;
  const before = withEventsBefore(task, report, now);
  const update = updateIn(report);
  const progress = furtherProgress(before.progress, progressOf(report.route, update.percent));
  const { event: type, actor } = report;
  return withEvent({ ...before, state: 'running', mark, progress }, { type, actor, ...update }, now);
}

/** Adds the events that were not reported on their own: the actors that the envelope has passed, and its arrival. */
function withEventsBefore(task: Task, report: StepReport | ProgressReport, now: number): Task {
  const { actor, attempt, route, arrived_at, left_at, is_rerouted = false } = report;
  if (arrived_at === undefined) return task;
  const passed = withPassedActors(task, route, left_at, now, is_rerouted ? route.prev.length - 1 : undefined);
  const received: TaskMark = [report.hop, attempt, STAGES.received];
  if (!isAhead(received, task.mark)) return passed;
  const progress = furtherProgress(passed.progress, progressOf(route));
  const at = timeOf(arrived_at, now);
  return withEvent({ ...passed, state: 'running', progress }, { type: 'received', actor }, at);
}

/**
 * Adds the event `completed` for each actor before the current one that has none.
 * @param lastAt When the last of them completed the envelope. The others were not later.
 * @param failedHop The hop whose actor did not complete the envelope.
 */
function withPassedActors(
  task: Task,
  { prev, curr, next }: Route,
  lastAt: string | undefined,
  now: number,
  failedHop?: number,
): Task {
  const at = timeOf(lastAt, now);
  const left = curr === '' ? next : [curr, ...next];
  let passed = task;
  for (const [hop, actor] of prev.entries()) {
    if (hop < hopsCompleted(task.mark) || hop === failedHop) continue;
    const [then = '', ...later] = [...prev.slice(hop + 1), ...left];
    const reached = progressOf({ prev: prev.slice(0, hop + 1), curr: then, next: later });
    const progress = furtherProgress(passed.progress, reached);
    passed = withEvent({ ...passed, state: 'running', progress }, { type: 'completed', actor }, at);
  }
  return passed;
}

function hopsCompleted(mark: TaskMark | undefined): number {
  if (mark === undefined) return 0;
  const [hop, , stage] = mark;
  return stage === STAGES.completed ? hop + 1 : hop;
}

/** The clocks of sidecars may be ahead of the gateway's. */
function timeOf(at: string | undefined, now: number): number {
  return Math.min(instantMs(at) ?? now, now);
}

function updateIn(report: Report): Pick<TaskEvent, 'percent' | 'message' | 'data'> {
  if (report.event !== 'progress') return {};
  const { percent, message, data } = report;
  return defined({ percent, message, data });
}

function applyToChild(task: Task, report: Report, now: number): Task {
  const id = report.envelope_id;
  const known = Object.hasOwn(task.children, id) ? task.children[id] : undefined;
  const mark = markOf(report);
  if (known !== undefined && !isAhead(mark, known.mark)) return task;
  const hasEnded = isFinal(task.state);
  // It would be a write that nobody sees: the event stream has ended.
  if (hasEnded && report.event === 'progress') return task;
  const running: Task = hasEnded ? task : { ...task, state: 'running' };
  if (known === undefined && Object.keys(task.children).length >= MAX_CHILDREN) {
    return report.event === 'final'
      ? { ...running, unlisted: (task.unlisted ?? 0) + 1, version: task.version + 1 }
      : task;
  }
  const why = report.event === 'final' && report.reason !== undefined ? { reason: report.reason } : {};
  const { actor } = report;
  const state = report.event === 'final' ? report.phase : 'running';
  const child: TaskChild = { state, actor, ...why, mark };
  // `Object.fromEntries` instead of an assignment, because an id may be "__proto__".
  const children = Object.fromEntries([...Object.entries(task.children), [id, child]]);
  // The task's events are complete.
  if (hasEnded) return { ...task, children, version: task.version + 1 };
  const type = report.event === 'final' ? 'ended' : report.event;
  return withEvent({ ...running, children }, { type, actor, child: id, ...why, ...updateIn(report) }, now);
}

function markOf(report: Report): TaskMark {
  if (report.event === 'final') return END;
  const { hop, attempt, event } = report;
  // Progress comes after `processing`, which may have been lost, and before `completed`.
  return event === 'progress'
    ? [hop, attempt, STAGES.processing, report.order]
    : [hop, attempt, STAGES[event]];
}

function isAhead(mark: TaskMark, known: TaskMark | undefined): boolean {
  if (known === undefined) return true;
  const at = mark.findIndex((value, index) => value !== known[index]);
  return at >= 0 && (mark[at] ?? 0) > (known[at] ?? 0);
}
