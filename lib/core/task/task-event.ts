import type { Task, TaskEvent } from './task.ts';

/** A task is one item in a table, and a loop of a hundred hops with retries has many events. */
export const MAX_EVENTS = 500;

type What = Pick<TaskEvent, 'type' | 'actor' | 'child' | 'reason' | 'error'>;

/** The task as it is now, one version on, with what happened at the end of its story. */
export function withEvent(task: Task, what: What, now: number): Task {
  const seq = (task.events.at(-1)?.seq ?? 0) + 1;
  // Clocks of several machines tell the time: a story goes only forward.
  const atMs = Math.max(now, task.updatedMs);
  const event: TaskEvent = { seq, atMs, ...what, state: task.state, progress: task.progress };
  const events = [...task.events, event].slice(-MAX_EVENTS);
  return { ...task, updatedMs: atMs, events, version: task.version + 1 };
}
