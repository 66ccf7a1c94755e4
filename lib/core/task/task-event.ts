import type { Task, TaskEvent } from './task.ts';

/** A task is one item in a table, and a route of a hundred hops with retries has many events. */
export const MAX_EVENTS = 500;
/**
 * Events of handlers' progress are counted separately, so that they never push out the others. They may contain data,
 * which hardly compresses.
 */
export const MAX_PROGRESS_EVENTS = 10;

type NewEvent = Pick<
  TaskEvent,
  'type' | 'actor' | 'child' | 'reason' | 'error' | 'percent' | 'message' | 'data'
>;

/**
 * The next version of the task, with the event added. A progress event replaces the earlier one of the same envelope. The
 * oldest events are removed if there are too many.
 */
export function withEvent(task: Task, added: NewEvent, now: number): Task {
  const seq = (task.events.at(-1)?.seq ?? 0) + 1;
  // The times come from the clocks of several machines: keep them in ascending order.
  const atMs = Math.max(now, task.updatedMs);
  const event: TaskEvent = { seq, atMs, ...added, state: task.state, progress: task.progress };
  const isReplaced = ({ type, child }: TaskEvent) =>
    added.type === 'progress' && type === 'progress' && child === added.child;
  const events = newestOf([...task.events.filter((one) => !isReplaced(one)), event]);
  return { ...task, updatedMs: atMs, events, version: task.version + 1 };
}

function newestOf(events: readonly TaskEvent[]): readonly TaskEvent[] {
  const updates = events.filter(({ type }) => type === 'progress').length;
  let surplusUpdates = updates - MAX_PROGRESS_EVENTS;
  let surplusOthers = events.length - updates - MAX_EVENTS;
  if (surplusUpdates <= 0 && surplusOthers <= 0) return events;
  return events.filter(({ type }) => (type === 'progress' ? surplusUpdates-- : surplusOthers--) <= 0);
}
