import type { Task, TaskEvent } from './task.ts';

/** A task is one item in a table, and a route of a hundred hops with retries has many events. */
export const MAX_EVENTS = 500;

type NewEvent = Pick<TaskEvent, 'type' | 'actor' | 'child' | 'reason' | 'error'>;

/** The next version of the task, with the event added. The oldest events are removed if there are too many. */
export function withEvent(task: Task, added: NewEvent, now: number): Task {
  const seq = (task.events.at(-1)?.seq ?? 0) + 1;
  // The times come from the clocks of several machines: keep them in ascending order.
  const atMs = Math.max(now, task.updatedMs);
  const event: TaskEvent = { seq, atMs, ...added, state: task.state, progress: task.progress };
  const events = [...task.events, event].slice(-MAX_EVENTS);
  return { ...task, updatedMs: atMs, events, version: task.version + 1 };
}
